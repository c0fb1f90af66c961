package usercheckout

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"relay/internal/lazyregexp"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/transcripts"
	"relay/runners/conversation"
	"relay/runners/kinds"
)

// writing matches the names of tools that can write a file, or that run commands.
var writing = lazyregexp.New(`(?i)write|edit|patch|replace|change|create|insert|bash|shell|command|exec`)

// calls returns the parameters of the calls of such tools in the transcripts of an attempt, each with a NUL behind it.
func calls(folder string) (all []byte) {
	turns, _ := fs.Glob(os.DirFS(folder), "*/"+transcripts.Name) // the pattern is fine
	for _, turn := range append(turns, transcripts.Name) {
		text := gitcmd.Plain(filepath.Join(folder, turn), maxCalls)
		first, _, _ := strings.Cut(text, "\n")
		reader := kinds.Conversation(kinds.Printed([]byte(first)))
		for line := range strings.Lines(text) {
			reader.Line(bytes.TrimSpace([]byte(line)), func(e conversation.Event) {
				if e.Kind == conversation.Called && writing.MatchString(e.Tool) {
					all = append(append(all, e.Params...), 0)
				}
			})
		}
	}
	return all
}

// maxCalls is how much is read of what an agent printed in a turn, in bytes; nothing of more.
const maxCalls = 256 << 20

// names reports whether a call names a file of a checkout: by its absolute path, or by its path beside that of the checkout.
func names(calls []byte, root, p string) bool {
	const before, after = `(?:^|[^\w/.-])`, `(?:$|[^\w/.-])`
	root, p = regexp.QuoteMeta(filepath.ToSlash(root)), regexp.QuoteMeta(p)
	place, file := before+root+`/?`+after, before+`(?:\./)?`+p+after
	return regexp.MustCompile(before + root + "/" + p + after + "|" + place + `[^\x00]*` + file + "|" + file + `[^\x00]*` + place).Match(calls)
}
