package worker

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/git/userfiles"
	"relay/orchestrator/text"
)

// userCheckout knows what the user's checkout was like when the run began, and tells what has changed there since: tasks
// work elsewhere, but nothing keeps an agent from a folder whose path it knows. The user may be at work there as well, so a
// change alone is held against nobody. What gates is git's own record of what the agent had it do (gitCommand).
type userCheckout struct {
	snapshot *userfiles.Snapshot // nil: none could be made

	mu           sync.Mutex
	branch, head string // when it was last looked at
	refs         integration.Refs
	was          map[string]string // branches and tags then
	known        map[string]bool   // files that are not what they were, and are told
	changes      []checkoutChange
	told         bool // one of them
	looked       time.Time
	took         time.Duration
}

// checkoutChange is one thing that is not as it was.
type checkoutChange struct {
	text  string
	undo  string // command
	quiet bool   // nothing is lost by it: it is told only when it is an agent's
}

// snapshotWall bounds how long the beginning of a run waits for a copy of the checkout.
const snapshotWall = 2 * time.Minute

// watchCheckout takes note of how the user's checkout stands. Without a copy the run goes on, and says so.
func (s *slotEngine) watchCheckout(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, snapshotWall)
	defer cancel()
	u := &userCheckout{known: make(map[string]bool)}
	snapshot, err := userfiles.TakeSnapshot(ctx, s.home, "refs/relay-checkout/"+s.o.Epic.ID+"/"+s.o.Run, filepath.Join(s.o.Dir, "user-index"))
	if err != nil {
		s.stay = append(s.stay, "relay has no copy of what was not committed in your checkout: "+err.Error())
		return
	}
	if len(snapshot.Large) > 0 {
		s.stay = append(s.stay, "relay has no copy of "+text.Listed(snapshot.Large)+", for the size; what else was not committed in your checkout it has")
	}
	u.snapshot, u.branch, u.head, u.looked = snapshot, snapshot.Branch, snapshot.Head, s.now()
	u.refs.Dir = s.home.CommonDir()
	u.was, _ = u.refs.Read() // what cannot be read is not looked at
	s.userTree = u
}

// lookRarely is how much rarer than it takes relay looks at all files of the user's checkout, unless it has a reason.
const lookRarely = 20

// lookAtCheckout finds out what has changed since it was last asked, and returns how many changes there had been before.
func (s *slotEngine) lookAtCheckout(ctx context.Context, u *userCheckout, thorough bool) (before int, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	before = len(u.changes)
	if err := errors.Join(s.lookAtHead(ctx, u), s.lookAtRefs(ctx, u)); err != nil {
		return before, err
	}
	began := s.now()
	if age := began.Sub(u.looked); !thorough && len(u.changes) == before && age >= 0 && age < lookRarely*u.took {
		return before, nil
	}
	paths, err := u.snapshot.Changed(ctx)
	u.looked, u.took = began, s.now().Sub(began)
	paths = slices.DeleteFunc(paths, func(p string) bool {
		return u.known[p] || u.head != u.snapshot.Head && !slices.Contains(u.snapshot.Uncommitted, p) // another commit has other files
	})
	if len(paths) == 0 {
		return before, err
	}
	undo := gitLine("restore", "--source="+u.snapshot.Source(), "--worktree", "--")
	for _, p := range paths {
		u.known[p] = true
		undo += " " + text.ShellWord(p)
	}
	if len(paths) > mostListed {
		undo = gitLine("restore", "--source="+u.snapshot.Source(), "--worktree", "--", ":/")
	}
	u.changes = append(u.changes, checkoutChange{text: "in your checkout these files changed: " + text.Listed(paths), undo: undo})
	return before, err
}

// mostListed is how many files a command names that brings them back.
const mostListed = 20

func (s *slotEngine) lookAtHead(ctx context.Context, u *userCheckout) error {
	branch, err := s.home.Branch(ctx)
	if err != nil {
		return err
	}
	head, err := s.home.Head(ctx)
	if err != nil || branch == u.branch && head == u.head {
		return err
	}
	change := checkoutChange{text: "your checkout is on " + text.FirstOf(branch, "no branch") + " and no longer on " + text.FirstOf(u.branch, "no branch"), undo: gitLine("switch", text.FirstOf(u.branch, "--detach"))}
	if u.branch == "" {
		change.undo += " " + u.head
	}
	switch {
	case branch != u.branch:
	case head == "":
		change = checkoutChange{text: text.FirstOf(branch, "HEAD") + " in your checkout leads to no commit any more", undo: gitLine("update-ref", "refs/heads/"+branch, u.head)}
	case u.head == "":
		change.quiet = true // its first commit
	default:
		forward, err := s.trunk.Contains(ctx, head, u.head)
		if err != nil {
			return err
		}
		change = checkoutChange{text: text.FirstOf(branch, "HEAD") + " in your checkout went from " + abbreviated(u.head) + " to " + abbreviated(head), undo: gitLine("reset", "--keep", abbreviated(u.head)), quiet: forward}
	}
	u.branch, u.head = branch, head
	u.changes = append(u.changes, change)
	return nil
}

// lookAtRefs finds branches and tags that are gone, or that do not lead any more to what they led to.
func (s *slotEngine) lookAtRefs(ctx context.Context, u *userCheckout) error {
	now, err := u.refs.Read()
	if err != nil || u.was == nil || maps.Equal(now, u.was) {
		return err
	}
	was := u.was
	u.was = now
	for _, name := range slices.Sorted(maps.Keys(was)) {
		from, to := was[name], now[name]
		if from == to || name == "refs/heads/"+u.branch {
			continue
		}
		short := strings.TrimPrefix(strings.TrimPrefix(name, "refs/heads/"), "refs/")
		text := short + " in your repository is gone"
		if to != "" {
			if forward, err := s.trunk.Contains(ctx, to, from); err != nil || forward {
				continue // it went on, or it is no commit
			}
			text = short + " in your repository went from " + abbreviated(from) + " to " + abbreviated(to)
		}
		u.changes = append(u.changes, checkoutChange{text: text, undo: gitLine("update-ref", name, from)})
	}
	return nil
}

func abbreviated(commit string) string { return commit[:min(len(commit), 12)] }

// gitLine is a git command to type in the user's checkout.
func gitLine(args ...string) string {
	var line strings.Builder
	line.WriteString("git")
	for _, arg := range args {
		line.WriteString(" " + text.ShellWord(arg))
	}
	return line.String()
}

// settleCheckout begins to watch for one attempt: what has changed before is not its agent's, and while no agent was at
// work the user's.
func (w *slotAttempt) settleCheckout(ctx context.Context) error {
	if w.userTree == nil {
		return nil
	}
	var err error
	if w.alone() {
		_, err = w.lookAtCheckout(ctx, w.userTree, false)
	}
	w.userTree.mu.Lock()
	defer w.userTree.mu.Unlock()
	w.c.changesSeen = len(w.userTree.changes)
	return gitcmd.Unasked(err)
}

// tellCheckout tells what has changed in the user's checkout. When the attempt's own agent has had git change something
// there, that gates the task.
func (w *slotAttempt) tellCheckout(ctx context.Context, did []gitCommand, f *state) error {
	u := w.userTree
	if u == nil {
		return nil
	}
	var own []string
	cleaned := ""
	for _, cmd := range did {
		if cmd.worktree == w.home.Root() && cmd.changesCheckout() {
			own = append(own, cmd.String())
			if cmd.name == "clean" {
				cleaned = cmd.String()
			}
		}
	}
	ctx, cancel := settling(ctx)
	defer cancel()
	before, err := w.lookAtCheckout(ctx, u, w.c.turned)
	w.c.turned = false
	if err != nil {
		return gitcmd.Unasked(err) // whoever looks next may be told more
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	since := u.changes[min(w.c.changesSeen, len(u.changes)):]
	switch {
	case len(own) > 0 && len(since) > 0:
		w.c.convict(f, "the agent worked in your own checkout: "+strings.Join(own[:min(len(own), 3)], "; "))
		u.told = true
		for _, change := range since {
			f.Note("checkout", change.text+"; to bring it back, there: "+change.undo)
		}
	case cleaned != "":
		w.c.convict(f, "the agent worked in your own checkout: "+cleaned)
		f.Note("checkout", "what git ignores in your checkout may be gone, and relay has no copy of it")
	default:
		for _, change := range u.changes[before:] {
			if !change.quiet {
				u.told = true
				f.Note("checkout", change.text+"; if that was not you, there: "+change.undo)
			}
		}
	}
	w.c.changesSeen = len(u.changes)
	return nil
}

// closeCheckout removes the copy of the user's checkout unless something that can be brought back from it was told.
func (s *slotEngine) closeCheckout(ctx context.Context) error {
	if s.userTree == nil {
		return nil
	}
	return s.userTree.snapshot.Forget(ctx, s.userTree.told)
}
