package integration

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// ConflictError reports that two changes do not go together.
type ConflictError struct {
	Files []string // as git names them, sorted
	Text  string   // git's words and the hunks with their marks, clean, at most conflictText bytes
}

// Error names the files.
func (e *ConflictError) Error() string {
	if len(e.Files) == 0 {
		return e.Text
	}
	return "merge conflict in " + plaintext.Listed(e.Files)
}

const (
	conflictText  = 32 << 10
	conflictShown = 20      // files whose hunks are shown
	conflictFile  = 8 << 20 // bytes of all of them that are looked at
	hunkContext   = 3       // lines above and below a hunk
)

// conflictError reads what git merge-tree -z --name-only says of a merge that failed.
func conflictError(ctx context.Context, b *Branch, out, tip, head string) error {
	tree, files, said := mergeParts(out)
	e := &ConflictError{Files: files}
	var text strings.Builder
	for _, message := range said {
		text.WriteString(message)
	}
	for _, path := range e.Files[:min(conflictShown, len(e.Files))] {
		body := fileIn(ctx, b, tree, path)
		if found := hunks(body); found != "" {
			fmt.Fprintf(&text, "\n%s:\n%s", path, found)
		}
		if text.Len() > 2*conflictText {
			break
		}
	}
	e.Text = cleaned(strings.NewReplacer(tip, "relay/"+b.epic, head, "this task").Replace(text.String()))
	for i, path := range e.Files { // where a file cannot have its name, git adds which side it is of
		path, _, _ = strings.Cut(path, "~"+tip)
		e.Files[i], _, _ = strings.Cut(path, "~"+head)
	}
	slices.Sort(e.Files)
	e.Files = slices.Compact(e.Files)
	return e
}

// mergeParts takes apart what git merge-tree -z --name-only says: the tree, the files in conflict, and messages.
func mergeParts(out string) (tree string, files, said []string) {
	tree, rest, _ := strings.Cut(out, "\x00")
	for {
		var path string
		if path, rest, _ = strings.Cut(rest, "\x00"); path == "" {
			return tree, files, messages(rest)
		}
		files = append(files, path)
	}
}

// messages returns what git says of a merge, but not that all is well with a file. Each is a count, so many paths, a
// kind, and words.
func messages(rest string) (found []string) {
	fields := strings.Split(rest, "\x00")
	for len(fields) > 0 {
		n, err := strconv.Atoi(strings.TrimSpace(fields[0]))
		if err != nil || n < 0 || len(fields) < n+3 {
			break
		}
		if kind := fields[n+1]; kind != "Auto-merging" {
			found = append(found, fields[n+2])
		}
		fields = fields[n+3:]
	}
	return found
}

// fileIn returns a file of a tree, "" when it cannot be had or is too large.
func fileIn(ctx context.Context, b *Branch, tree, path string) string {
	call := git.Writing("cat-file", "blob", tree+":"+path)
	call.Limit = conflictFile
	out, err := b.Repo.Run(ctx, call)
	if err != nil || bytes.IndexByte(out, 0) >= 0 {
		return ""
	}
	return string(out)
}

// hunks returns what stands between conflict marks, and some lines around it.
func hunks(body string) string {
	lines := strings.SplitAfter(body, "\n")
	shown := make([]bool, len(lines))
	open := false
	for i, line := range lines {
		begins, ends := marked(line, "<"), open && marked(line, ">")
		open = open && !ends || begins
		switch {
		case begins:
			show(shown, i-hunkContext, i)
		case ends:
			show(shown, i, i+hunkContext)
		case open:
			shown[i] = true
		}
	}
	var text strings.Builder
	for i := range lines {
		if !shown[i] {
			continue
		}
		if i == 0 || !shown[i-1] {
			fmt.Fprintf(&text, "@ line %d\n", i+1)
		}
		text.WriteString(lines[i])
	}
	return text.String()
}

// marked reports whether a line is a conflict mark of a sign: seven of them, or as many as conflict-marker-size says.
func marked(line, sign string) bool {
	label := strings.TrimLeft(line, sign)
	return len(line)-len(label) >= 7 && strings.HasPrefix(label, " ")
}

func cleaned(text string) string { return plaintext.Capped(text, conflictText) }

// show marks lines from first to last, as far as there are any.
func show(shown []bool, first, last int) {
	for i := max(first, 0); i <= min(last, len(shown)-1); i++ {
		shown[i] = true
	}
}
