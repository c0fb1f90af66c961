package guard

import (
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"relay/epic/pattern"
	"relay/epic/plaintext"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
)

// CheckoutAttempt is an attempt in a slot, as far as it concerns the user's checkout.
type CheckoutAttempt struct {
	Task, Folder, Slot string   // Folder has the transcripts of its agent
	MaxFile            int64    // bytes of a file above which it is not taken; 0: none
	Doubts             []string // whether what was taken is its own, and all of it, in words
	Began              time.Time

	taken map[string]time.Time // when files were changed that are in the slot
}

// Enter begins to watch an attempt, whose agent is about to begin.
func (w *CheckoutWatch) Enter(a *CheckoutAttempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a.taken, w.attempts = make(map[string]time.Time), append(w.attempts, a)
}

// Take copies what the agent of an attempt wrote in the user's checkout into its slot: the files that its tool calls name and that changed
// since it began. It returns the paths of all that it has copied so far.
func (w *CheckoutWatch) Take(ctx context.Context, a *CheckoutAttempt, note func(kind, text string)) (took []string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	added, adding := w.snapshot.Added(ctx)
	changed, changing := w.snapshot.Changed(ctx)
	if err := git.Unasked(errors.Join(adding, changing)); err != nil || len(added)+len(changed) == 0 {
		return nil, err
	}
	t := taking{w: w, a: a, calls: map[*CheckoutAttempt]named{a: calls(a.Folder, w.o.Home.Root())}}
	undo := [][]string{{"clean", "-f", "--"}, {"restore", "--source=" + w.snapshot.Source(), "--worktree", "--"}}
	for i, paths := range [][]string{added, changed} {
		paths = slices.DeleteFunc(paths, func(p string) bool { return ctx.Err() != nil || !t.take(ctx, p) })
		if len(paths) > 0 {
			w.keepCopy = w.keepCopy || i > 0
			note("checkout", "the agent wrote "+plaintext.Listed(paths)+" in your checkout: relay copied that into the work of the task; "+
				"to take back the copy that is left there, before relay finish: "+gitLine(append(undo[i], paths...)...))
		}
	}
	return slices.Collect(maps.Keys(a.taken)), nil
}

// relays matches what relay writes in checkouts: its settings and state, and records of sessions.
var relays = pattern.New(`^(?:\.agents|\.ledger|thoughts/shared/)`)

// taking is one time at which files of an attempt are taken.
type taking struct {
	w     *CheckoutWatch
	a     *CheckoutAttempt
	calls map[*CheckoutAttempt]named
}

// take copies a file into the slot if the attempt's agent wrote it; no link, nothing that is too large and nothing of relay's.
func (t *taking) take(ctx context.Context, p string) bool {
	a := t.a
	writes, names := t.calls[a][p]
	if !names || relays.MatchString(p) {
		return false
	}
	full := filepath.Join(t.w.o.Home.Root(), p)
	info, err := os.Lstat(full)
	if err != nil || writes && !info.ModTime().After(a.Began) {
		t.doubt("it does not take " + p + ", which has changed in your checkout too")
		return false
	}
	fresh := info.ModTime().After(a.Began) && !info.ModTime().Equal(a.taken[p])
	if !fresh || !info.Mode().IsRegular() || a.MaxFile > 0 && info.Size() > a.MaxFile {
		return false
	}
	content := git.Plain(full, info.Size())
	why := t.whose(ctx, p, content)
	if int64(len(content)) != info.Size() || write(a.Slot, p, content, info.Mode().Perm()) != nil {
		return false
	}
	t.w.o.Taken.Store(p, true)
	a.taken[p], t.w.reported[p] = info.ModTime(), true
	if why != "" {
		t.doubt("it takes " + p + " from your checkout, and " + why)
	}
	return true
}

func (t *taking) doubt(why string) {
	if !slices.Contains(t.a.Doubts, why) {
		t.a.Doubts = append(t.a.Doubts, why)
	}
}

// whose says why a file may not be the attempt's alone; "": it is.
func (t *taking) whose(ctx context.Context, p, content string) string {
	if !t.calls[t.a][p] {
		return "only a command of its agent names it"
	}
	if slices.Contains(t.w.snapshot.Uncommitted, p) {
		return "you had changed it before the run"
	}
	for _, o := range t.w.attempts {
		ended, err := os.Stat(filepath.Join(o.Folder, relayfiles.EndFile))
		if o.Task == t.a.Task || err == nil && !ended.ModTime().After(t.a.Began) {
			continue
		}
		if t.calls[o] == nil {
			t.calls[o] = calls(o.Folder, t.w.o.Home.Root())
		}
		if _, names := t.calls[o][p]; names {
			return "the agent of " + o.Task + " named it at the same time"
		}
	}
	head, _ := t.w.o.Home.Run(ctx, git.Call{Args: []string{"cat-file", "--filters", "HEAD:" + p}, Limit: git.MaxPrinted}) // "": new
	if has := git.Plain(filepath.Join(t.a.Slot, p), git.MaxPrinted); has != string(head) && has != content {
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
