package usercheckout

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"relay/internal/lazyregexp"
	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// Attempt is an attempt in a slot, as far as it concerns the user's checkout.
type Attempt struct {
	Task, Folder, Slot string   // Folder has the transcripts of its agent
	MaxFile            int64    // bytes of a file above which it is not taken; 0: none
	Alone              bool     // no other one was under way when it began
	Doubts             []string // whether what was taken is its own, in words
	Began              time.Time

	taken map[string]time.Time // when files were changed that are in the slot
}

// Enter begins to watch an attempt, whose agent is about to begin.
func (w *Watch) Enter(a *Attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a.taken, w.attempts = make(map[string]time.Time), append(w.attempts, a)
}

// Take copies what the agent of an attempt wrote in the user's checkout into its slot: the files that its tool calls name and that changed
// since it began. silent is for an agent whose runner records no calls: if no other attempt was under way, all that changed is taken, and
// a person has to look at it. It reports whether it copied anything.
func (w *Watch) Take(ctx context.Context, a *Attempt, silent bool, note func(kind, text string)) (took bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if silent && (!a.Alone || w.attempts[len(w.attempts)-1] != a) {
		return false, nil
	}
	added, adding := w.snapshot.Added(ctx)
	changed, changing := w.snapshot.Changed(ctx)
	said := sync.OnceValue(func() []byte { return calls(a.Folder) })
	own := func(p string) bool { return silent || names(said(), w.home.Root(), p) }
	undo := [][]string{{"clean", "-f", "--"}, {"restore", "--source=" + w.snapshot.Source(), "--worktree", "--"}}
	for i, paths := range [][]string{added, changed} {
		paths = slices.DeleteFunc(paths, func(p string) bool { return !w.take(ctx, a, p, own) })
		if len(paths) > 0 {
			took, w.keepCopy = true, w.keepCopy || i > 0
			note("checkout", "the agent wrote "+text.Listed(paths)+" in your checkout: relay copied that into the work of the task; "+
				"to take back the copy that is left there, before relay finish: "+gitLine(append(undo[i], paths...)...))
		}
	}
	return took, gitcmd.Unasked(errors.Join(adding, changing))
}

// relays matches what relay writes in checkouts: its settings and state, and records of sessions.
var relays = lazyregexp.New(`^(?:\.agents|\.ledger|thoughts/shared/)`)

// take copies a file into the slot if the attempt's agent wrote it; no link, nothing that is too large and nothing of relay's.
func (w *Watch) take(ctx context.Context, a *Attempt, p string, own func(p string) bool) bool {
	full := filepath.Join(w.home.Root(), p)
	info, err := os.Lstat(full)
	if err != nil || !info.Mode().IsRegular() || !info.ModTime().After(a.Began) || info.ModTime().Equal(a.taken[p]) ||
		a.MaxFile > 0 && info.Size() > a.MaxFile || relays.MatchString(p) || !own(p) {
		return false
	}
	content := gitcmd.Plain(full, info.Size())
	why := w.doubt(ctx, a, p, content)
	if int64(len(content)) != info.Size() || write(a.Slot, p, content, info.Mode().Perm()) != nil {
		return false
	}
	w.taken.Store(p, true)
	a.taken[p], w.reported[p] = info.ModTime(), true
	if doubt := "it takes " + p + " from your checkout, and " + why; why != "" && !slices.Contains(a.Doubts, doubt) {
		a.Doubts = append(a.Doubts, doubt)
	}
	return true
}

// doubt says why a file may not be the attempt's alone; "": it is.
func (w *Watch) doubt(ctx context.Context, a *Attempt, p, content string) string {
	if len(calls(a.Folder)) == 0 {
		return "relay cannot see which files its agent wrote there"
	}
	if slices.Contains(w.snapshot.Uncommitted, p) {
		return "you had changed it before the run"
	}
	for _, o := range w.attempts {
		ended, err := os.Stat(filepath.Join(o.Folder, attemptfiles.EndFile))
		if o.Task != a.Task && (err != nil || ended.ModTime().After(a.Began)) && names(calls(o.Folder), w.home.Root(), p) {
			return "the agent of " + o.Task + " named it at the same time"
		}
	}
	head, _ := w.home.Run(ctx, reanchor.Call{Args: []string{"cat-file", "--filters", "HEAD:" + p}, Limit: gitcmd.MaxPrinted}) // "": new
	if has := gitcmd.Plain(filepath.Join(a.Slot, p), gitcmd.MaxPrinted); has != string(head) && has != content {
		return "it replaces another version, from which the task began"
	}
	return ""
}

// write replaces a file in a slot; what is in its way, such as a link, is not followed.
func write(slot, p, content string, mode os.FileMode) error {
	root, err := os.OpenRoot(slot)
	if err != nil {
		return err // the agent has destroyed it
	}
	defer root.Close()
	for at, c := range p {
		if info, err := root.Lstat(p[:at]); c == '/' && err == nil && !info.IsDir() {
			_ = root.Remove(p[:at])
		}
	}
	return errors.Join(root.MkdirAll(path.Dir(p), 0o755), root.RemoveAll(p), root.WriteFile(p, []byte(content), mode))
}
