package guard

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/git/worktree"
	"relay/reanchor/git"
)

// CheckoutOptions say what is watched.
type CheckoutOptions struct {
	Home  *git.Repo // the user's checkout
	Ref   string    // below which its copy is kept
	Index string    // file for the index of the copy
	Now   func() time.Time
	Taken *sync.Map // gets the paths of files that agents wrote
}

// CheckoutWatch knows what the user's checkout was like when the run began. Several goroutines may use it.
type CheckoutWatch struct {
	o        CheckoutOptions
	snapshot *worktree.Snapshot

	mu           sync.Mutex
	attempts     []*CheckoutAttempt
	branch, head string            // when it was last looked at
	was          map[string]string // branches and tags then
	reported     map[string]bool   // changed files that were reported
	changes      []CheckoutChange
	keepCopy     bool // one of them
	looked       time.Time
	took         time.Duration
}

// CheckoutChange is one change in the checkout.
type CheckoutChange struct {
	Text  string
	Undo  string // command that takes it back, typed in the checkout
	Quiet bool   // nothing is lost by it: it is reported only if an agent made it
}

// snapshotWall bounds how long the beginning of a run waits for a copy of the checkout.
const snapshotWall = 2 * time.Minute

// WatchCheckout copies what is not committed in the user's checkout and begins to watch it. Without a copy it returns nil. warning says
// what of the checkout was not copied, and why.
func WatchCheckout(ctx context.Context, o CheckoutOptions) (w *CheckoutWatch, warning string) {
	ctx, cancel := context.WithTimeout(ctx, snapshotWall)
	defer cancel()
	s, err := worktree.TakeSnapshot(ctx, o.Home, o.Ref, o.Index)
	if err != nil {
		return nil, "relay has no copy of what was not committed in your checkout: " + err.Error()
	}
	if len(s.Large) > 0 {
		warning = "relay has no copy of " + plaintext.Listed(s.Large) + ", for the size; what else was not committed in your checkout it has"
	}
	w = &CheckoutWatch{o: o, snapshot: s, branch: s.Branch, head: s.Head, reported: make(map[string]bool), looked: o.Now()}
	w.was, _ = usersRefs(ctx, o.Home) // what cannot be read is not looked at
	return w, warning
}

// fileCheckFactor is how much rarer than it takes all files of the user's checkout are looked at, unless there is a reason.
const fileCheckFactor = 20

// Check finds out what has changed since it was last called, and returns how many changes there had been before. Unless it is to be
// thorough, it leaves the files out when they were looked at a short while ago and nothing else has changed.
func (w *CheckoutWatch) Check(ctx context.Context, thorough bool) (before int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before = len(w.changes)
	if err := errors.Join(w.checkHead(ctx), w.checkRefs(ctx)); err != nil {
		return before, err
	}
	began := w.o.Now()
	if age := began.Sub(w.looked); !thorough && len(w.changes) == before && age >= 0 && age < fileCheckFactor*w.took {
		return before, nil
	}
	paths, err := w.snapshot.Changed(ctx)
	w.looked, w.took = began, w.o.Now().Sub(began)
	paths = slices.DeleteFunc(paths, func(p string) bool {
		return w.reported[p] || worktree.OnlyRecords(ctx, w.o.Home, w.snapshot.Commit, p) ||
			w.head != w.snapshot.Head && !slices.Contains(w.snapshot.Uncommitted, p) // another commit has other files
	})
	if len(paths) == 0 {
		return before, err
	}
	undo := gitLine("restore", "--source="+w.snapshot.Source(), "--worktree", "--")
	for _, p := range paths {
		w.reported[p] = true
		undo += " " + plaintext.ShellWord(p)
	}
	if len(paths) > mostListed {
		undo = gitLine("restore", "--source="+w.snapshot.Source(), "--worktree", "--", ":/")
	}
	w.changes = append(w.changes, CheckoutChange{Text: "in your checkout these files changed: " + plaintext.Listed(paths), Undo: undo})
	return before, err
}

// mostListed is how many files a command names that brings them back.
const mostListed = 20

// checkHead finds out whether the checkout is on another branch or commit.
func (w *CheckoutWatch) checkHead(ctx context.Context) error {
	branch, err := w.o.Home.Branch(ctx)
	if err != nil {
		return err
	}
	head, err := w.o.Home.Head(ctx)
	if err != nil || branch == w.branch && head == w.head {
		return err
	}
	change := CheckoutChange{
		Text: "your checkout is on " + plaintext.FirstOf(branch, "no branch") + " and no longer on " + plaintext.FirstOf(w.branch, "no branch"),
		Undo: gitLine("switch", plaintext.FirstOf(w.branch, "--detach")),
	}
	if w.branch == "" {
		change.Undo += " " + w.head
	}
	switch {
	case branch != w.branch:
	case head == "":
		change = CheckoutChange{Text: plaintext.FirstOf(branch, "HEAD") + " in your checkout leads to no commit any more", Undo: gitLine("update-ref", "refs/heads/"+branch, w.head)}
	case w.head == "":
		change.Quiet = true // its first commit
	default:
		forward, err := git.Contains(ctx, w.o.Home, head, w.head)
		if err != nil {
			return err
		}
		change = CheckoutChange{
			Text: plaintext.FirstOf(branch, "HEAD") + " in your checkout went from " + abbreviated(w.head) + " to " + abbreviated(head),
			Undo: gitLine("reset", "--keep", abbreviated(w.head)), Quiet: forward,
		}
	}
	w.branch, w.head = branch, head
	w.changes = append(w.changes, change)
	return nil
}

// usersRefs returns the commits of branches and tags by full name, without relay's own branches.
func usersRefs(ctx context.Context, repo *git.Repo) (map[string]string, error) {
	out, err := repo.Run(ctx, git.Call{Limit: git.MaxPrinted, Args: []string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)", "refs/heads", "refs/tags"}})
	all := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		ref := strings.Fields(line) // three for one that stands for another
		if len(ref) == 2 && !strings.HasPrefix(ref[1], "refs/heads/relay/") && !strings.HasPrefix(ref[1], "refs/heads/"+git.TaskBranches) {
			all[ref[1]] = ref[0]
		}
	}
	return all, err
}

// checkRefs finds branches and tags that are gone, or that do not lead any more to what they led to.
func (w *CheckoutWatch) checkRefs(ctx context.Context) error {
	now, err := usersRefs(ctx, w.o.Home)
	if err != nil || w.was == nil || maps.Equal(now, w.was) {
		return err
	}
	was := w.was
	w.was = now
	for _, name := range slices.Sorted(maps.Keys(was)) {
		from, to := was[name], now[name]
		if from == to || name == "refs/heads/"+w.branch {
			continue
		}
		short := strings.TrimPrefix(strings.TrimPrefix(name, "refs/heads/"), "refs/")
		message := short + " in your repository is gone"
		if to != "" {
			if forward, err := git.Contains(ctx, w.o.Home, to, from); err != nil || forward {
				continue // it moved forward, or to something other than a commit
			}
			message = short + " in your repository went from " + abbreviated(from) + " to " + abbreviated(to)
		}
		w.changes = append(w.changes, CheckoutChange{Text: message, Undo: gitLine("update-ref", name, from)})
	}
	return nil
}

// Changes returns all that has been found to have changed, the earliest first.
func (w *CheckoutWatch) Changes() []CheckoutChange {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.changes)
}

// KeepCopy records that the user learned of a change: then the copy stays when the watch is closed.
func (w *CheckoutWatch) KeepCopy() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keepCopy = true
}

// Close removes the copy of the user's checkout, unless relay has reported a change that it can undo.
func (w *CheckoutWatch) Close(ctx context.Context) error { return w.snapshot.Forget(ctx, w.keepCopy) }

func abbreviated(commit string) string { return commit[:min(len(commit), 12)] }

// gitLine returns a git command to type in the user's checkout.
func gitLine(args ...string) string {
	return strings.Join(append([]string{"git"}, each.Of(args, plaintext.ShellWord)...), " ")
}

// CheckoutView counts the changes of the user's checkout that one checkout has seen.
type CheckoutView struct {
	Turned bool // an agent has worked since the last report
	Seen   int  // of the changes
}

// Report reports what has changed in the user's checkout. A change alone gates no task: the user may be at work there.
// Only git's own record of the commands that the attempt's agent ran there gates the task.
func (w *CheckoutWatch) Report(ctx context.Context, v *CheckoutView, did []TracedCommand, seen *Sightings) error {
	var own []string
	cleaned := ""
	for _, cmd := range did {
		if cmd.Worktree == w.o.Home.Root() && cmd.ChangesCheckout() {
			own = append(own, cmd.String())
			if cmd.Name == "clean" {
				cleaned = cmd.String()
			}
		}
	}
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	before, err := w.Check(ctx, v.Turned)
	v.Turned = false
	if err != nil {
		return git.Unasked(err) // whoever looks next may see more
	}
	changes := w.Changes()
	since := changes[min(v.Seen, len(changes)):]
	switch {
	case len(own) > 0 && len(since) > 0:
		seen.ByAgent("the agent worked in your own checkout: " + strings.Join(own[:min(len(own), 3)], "; "))
		w.KeepCopy()
		for _, change := range since {
			seen.Note("checkout", change.Text+"; to bring it back, there: "+change.Undo)
		}
	case cleaned != "":
		seen.ByAgent("the agent worked in your own checkout: " + cleaned)
		seen.Note("checkout", "what git ignores in your checkout may be gone, and relay has no copy of it")
	default:
		for _, change := range changes[before:] {
			if !change.Quiet {
				w.KeepCopy()
				seen.Note("checkout", change.Text+"; if that was not you, there: "+change.Undo)
			}
		}
	}
	v.Seen = len(changes)
	return nil
}
