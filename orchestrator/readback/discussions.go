package readback

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"relay/attempts/discussion"
	"relay/epic/globs"
	"relay/internal/plaintext"
	"relay/reanchor"
)

const (
	mostDiscussions = 200 // entries looked at, the newest by their names
	mostThreads     = 8   // of them told
)

// discussions are the open ones of a checkout; they are read again when a file has changed.
type discussions struct {
	files []os.FileInfo // as they were read
	open  []*discussion.Entry
}

// refresh reads the ledger of discussions, unless it is as it was.
func (d *discussions) refresh(top string) {
	var files []os.FileInfo
	there, err := os.ReadDir(filepath.Join(top, filepath.FromSlash(discussion.Folder)))
	if err != nil {
		*d = discussions{}
		return
	}
	for _, f := range there {
		if info, err := f.Info(); err == nil {
			files = append(files, info)
		}
	}
	same := func(x, y os.FileInfo) bool {
		return os.SameFile(x, y) && x.Size() == y.Size() && x.ModTime().Equal(y.ModTime())
	}
	if len(files) > 0 && slices.EqualFunc(files, d.files, same) {
		return
	}
	*d = discussions{files: files}
	l, err := discussion.Open(top, discussion.Options{})
	if err != nil {
		return
	}
	defer l.Close()
	list, err := l.Newest(mostDiscussions)
	if err != nil {
		return
	}
	for _, l := range list {
		if l.Entry != nil && l.Entry.Open() {
			d.open = append(d.open, l.Entry)
		}
	}
}

// about returns the open discussions that name one of some files, or that relay has opened about a task of an epic, the newest first.
func (d *discussions) about(top string, files []string, origin string, now time.Time) (threads []reanchor.Thread) {
	for _, e := range slices.Backward(d.open) {
		if len(threads) == mostThreads {
			break
		}
		if origin != "" && strings.HasPrefix(e.Origin, origin) || touches(top, files, e) {
			threads = append(threads, threadOf(e, now))
		}
	}
	return threads
}

func touches(top string, files []string, e *discussion.Entry) bool {
	if len(files) == 0 {
		return false
	}
	texts := []string{e.Topic, e.Summary}
	for _, p := range e.Positions {
		texts = append(texts, p.Stance, p.Rationale)
	}
	for _, c := range e.History {
		texts = append(texts, c.Note)
	}
	seen := map[string]bool{}
	for _, word := range words(strings.Join(texts, "\n")) {
		if !seen[word] && names(top, files, word) {
			return true
		}
		seen[word] = true
	}
	return false
}

// words returns what of a text can be a path: its words, and what of ASCII is in them, for in some scripts no spaces stand around it.
func words(text string) []string {
	const path = "/._-+@~*"
	letter := func(r rune) bool { return unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number) }
	list := strings.FieldsFunc(text, func(r rune) bool { return !letter(r) && !strings.ContainsRune(path, r) })
	return append(list, strings.FieldsFunc(text, func(r rune) bool {
		return r >= unicode.MaxASCII || !letter(r) && !strings.ContainsRune(path, r)
	})...)
}

// names reports whether a word is the path of one of some files, or a folder with one in it, when it ends with a slash.
func names(top string, files []string, word string) bool {
	word = strings.TrimRight(word, ".")
	if !strings.ContainsAny(word, "/.") && !slices.Contains(files, word) {
		return false
	}
	if filepath.IsAbs(word) {
		rel, err := filepath.Rel(top, word)
		if err != nil || !filepath.IsLocal(rel) {
			return false
		}
		word = filepath.ToSlash(rel)
	}
	folder := strings.HasSuffix(word, "/")
	word = globs.CleanPath(word)
	if folder && slices.ContainsFunc(files, func(f string) bool { return inFolder(globs.CleanPath(f), word+"/") }) {
		return true
	}
	return word != "" && (covered(files, word) || slices.Contains(files, word))
}

// inFolder reports whether a file lies in a folder, or some of those that a pattern stands for may.
func inFolder(file, folder string) bool {
	fixed, pattern := fixedPart(file)
	return strings.HasPrefix(file, folder) || pattern && fixed != "" && strings.HasPrefix(folder, fixed)
}

// threadOf returns what a brief quotes of an open discussion: how it stands, what it is about, and who holds what.
func threadOf(e *discussion.Entry, now time.Time) reanchor.Thread {
	by := ""
	if len(e.History) > 0 {
		by = e.History[0].By
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (discussion %s, %s)", plaintext.Head(e.Name(), 150), e.ID, e.Status)
	for _, p := range e.Positions[:min(len(e.Positions), mostItems)] {
		fmt.Fprintf(&b, "; %s: %s", p.By, plaintext.Head(p.Stance, 150))
	}
	if n := len(e.History); n > 1 && e.History[n-1].Note != "" {
		fmt.Fprintf(&b, "; last: %s", plaintext.Head(e.History[n-1].Note, 150))
	}
	if e.Summary != "" {
		fmt.Fprintf(&b, "; %s", plaintext.Head(e.Summary, 300))
	}
	return reanchor.Thread{By: by, Age: age(now, e), Question: b.String()}
}
