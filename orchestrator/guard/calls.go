package guard

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"relay/epic/pattern"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
	"relay/runners"
	"relay/runners/kinds"
)

// Names of tools that write files, and of those that run commands.
var (
	writes = pattern.New(`(?i)write|edit|patch|replace|change|create|insert`)
	runs   = pattern.New(`(?i)bash|shell|command|exec`)
)

// named are files of a checkout that the tool calls of an attempt name, by their paths in it: true for those that a tool wrote, false
// for those that only a command names.
type named map[string]bool

// calls reads the transcripts of an attempt.
func calls(folder, root string) named {
	found := make(named)
	turns, _ := fs.Glob(os.DirFS(folder), "*/"+relayfiles.Transcript) // the pattern is fine
	for _, turn := range append(turns, relayfiles.Transcript) {
		text := git.Plain(filepath.Join(folder, turn), maxCalls)
		first, _, _ := strings.Cut(text, "\n")
		reader := kinds.Conversation(kinds.Printed([]byte(first)))
		for line := range strings.Lines(text) {
			reader.Line(bytes.TrimSpace([]byte(line)), func(e runners.Message) {
				var params any
				if e.Kind != runners.Called || json.Unmarshal(e.Params, &params) != nil {
					return
				}
				switch {
				case runs.MatchString(e.Tool):
					found.command(root, texts(params))
				case writes.MatchString(e.Tool):
					found.written(root, texts(params))
				}
			})
		}
	}
	return found
}

// maxCalls is how much is read of what an agent printed in a turn, in bytes; nothing of more.
const maxCalls = 256 << 20

// written adds the files that a tool was to write: a line of its parameters is the path of each, as it is or in a patch.
func (n named) written(root string, params []string) {
	for _, text := range params {
		for line := range strings.Lines(text) {
			for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Move to: "} {
				line = strings.TrimPrefix(line, mark)
			}
			if p := below(root, strings.TrimSpace(line)); p != "" {
				n[p] = true
			}
		}
	}
}

// command adds the files that a command names: by absolute paths, or by paths beside that of the checkout.
func (n named) command(root string, params []string) {
	words := strings.FieldsFunc(strings.Join(params, " "), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"'`;|&<>(){}=:,*?$\\", r)
	})
	beside := false
	for _, word := range words {
		beside = beside || path.Clean(word) == root
	}
	for _, word := range words {
		p := below(root, word)
		if p == "" && beside && !path.IsAbs(word) {
			p = path.Clean(word)
		}
		if p != "" && !n[p] { // a tool that wrote it says more
			n[p] = false
		}
	}
}

// below returns the path of a file below a folder; "": it is not there.
func below(root, p string) string {
	rest, found := strings.CutPrefix(path.Clean(p), root+"/")
	if !found {
		return ""
	}
	return rest
}

// texts returns all texts in a value that was read from JSON.
func texts(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, inner := range v {
			all = append(all, texts(inner)...)
		}
	case map[string]any:
		for _, inner := range v {
			all = append(all, texts(inner)...)
		}
	}
	return all
}
