package engine

import (
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/git/integration"
	"relay/review"
)

// Options are what an engine needs to know of a run: plain data, as all that crosses the border. Zero limits mean none, except where said.
type Options struct {
	Engine    string // its name
	Epic      *epic.Epic
	Plan      []byte   // epic.yml as read
	Root      string   // the checkout, absolute
	Dir       string   // the folder of the epic, absolute: relay's own, or one below it
	Home      string   // relay's folder, absolute; "" : Dir
	Files     []string // of this run's configuration, absolute
	BackupDir string   // where a copy of .git is kept during the run; "" : below Dir, where an agent can reach it

	Run       string // run id
	Trace     string // id of the trace that the run's spans are in; "": there are none
	Isolation Isolation
	Worktree  Worktree         // of IsolationWorktree
	Landing   integration.Mode // of IsolationWorktree
	Commit    string           // template of commit messages, see package plaintext
	Sign      bool             // what relay lands from worktrees is signed, as the git of the user is set up
	Hook      string           // file of the pre-commit hook that is to run on what lands from worktrees; "": none
	Begin     string           // commit that the integration branch of IsolationWorktree is made at; "" : the checkout's
	Jobs      int              // at least 1; always 1 with IsolationNone

	Env        []string // complete environment for agents and checks; relay adds its own variables
	CommandEnv []string // more of it for set-up commands and checks
	Push       bool     // agents may push
	Sandbox    string   // what the user wants to hold processes: see package sandbox

	Limits Limits
	Review Review
}

// Isolation says where tasks work.
type Isolation string

// IsolationNone runs tasks one at a time in the user's checkout; what an attempt changed is committed or set aside
// before the next begins. IsolationShared runs them side by side in that checkout, for epics of commands: changes
// are not attributed to tasks, and proof is by checks only. IsolationWorktree gives each task a worktree of its own and
// lands what passes on the epic's integration branch; the user's checkout is not touched.
const (
	IsolationNone     Isolation = "none"
	IsolationShared   Isolation = "shared"
	IsolationWorktree Isolation = "worktree"
)

// ErrSharedReview refuses reviewers with IsolationShared.
var ErrSharedReview = &attempts.RefusedError{
	Reason: "a review needs to know whose change is whose, and isolation: shared does not", Hint: "relay work --no-review, or relay.isolation: none",
}

// Worktree records how the worktrees of IsolationWorktree are made ready.
type Worktree struct {
	Setup     []string      // shell commands, run in each fresh worktree before agent and checks
	Copy      []string      // untracked files of the checkout, as paths or globs with slashes
	Share     []string      // the same, of dependencies: what names the checkout in them names the worktree in the copy
	Python    []string      // folders of the checkout, with slashes, that the user's python finds packages in
	Dir       string        // where worktrees are, absolute
	SetupWall time.Duration // for one setup command
}

// Limits bound attempts and the run.
type Limits struct {
	attempts.RunLimits

	Wall         time.Duration
	Silence      time.Duration
	FirstAnswer  time.Duration
	Linger       time.Duration
	StopGrace    time.Duration
	Check        time.Duration // one acceptance command
	BriefBytes   int
	OutputCap    int64   // bytes kept of each output file
	MaxFile      int64   // bytes of a new file above which relay does not commit it unless the task names it; 0: none
	ChecksAtOnce int     // checks that run side by side; 0: as many as there are jobs
	RecheckShare float64 // of the run's time so far: how long checks of completed tasks run again at the end
}

// Review records who judges a change, and how strictly. Without reviewers relay asks for none.
type Review struct {
	Reviewers  []Reviewer // all are asked about every change
	Rounds     int        // in which the agent of an attempt may mend what they find
	Strictness review.Strictness
	Wall       time.Duration
	Epic       bool // they also judge all that has landed, once every task is completed
}

// Reviewer is one member of a panel. Runner "" means that Name is the runner's name.
type Reviewer struct {
	Name         string
	CLI          string // its type
	Focus        string // what it looks at most; "": everything
	Instructions string // the user's own words to it
}

// AttemptsFor returns how many charged attempts a task may have.
func (l Limits) AttemptsFor(t *epic.Task) int {
	if t.MaxAttempts > 0 {
		return t.MaxAttempts
	}
	return l.MaxAttempts
}

// WallFor returns how long one attempt at a task may take.
func (l Limits) WallFor(t *epic.Task) time.Duration {
	if t.Timeout > 0 {
		return t.Timeout
	}
	return l.Wall
}
