package process

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// markVariable carries Command.Mark in the environment of every process of an attempt.
const markVariable = "RELAY_ATTEMPT"

// Local starts processes as children of this process. Every command gets a session, and so a process group, of its
// own: it has no terminal to ask questions on, Ctrl-C does not reach it, and relay recognizes by it what it starts. (In a
// guardian, which has such a session itself, it gets a group.)
//
// On Linux a Local makes this process a subreaper, so that what escapes its group comes back here and is ended. What
// lives in this process's own session is not touched: git commands that relay runs, say. Who else starts children in
// sessions of their own next to a Local loses them at the end of the Local's commands.
type Local struct {
	procTable *procTable

	mu      sync.Mutex
	running map[*child]struct{}
}

// NewLocal returns a Local. All Locals of one process share its table of children.
func NewLocal() *Local {
	return &Local{procTable: theProcTable(), running: map[*child]struct{}{}}
}

// Start implements [Supervisor]. Whoever starts a process must Wait for it.
func (l *Local) Start(ctx context.Context, cmd Command) (Process, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.name(), err)
	}
	c, err := l.launch(cmd)
	if err != nil {
		return nil, err
	}
	follow(ctx, c, c.done)
	return c, nil
}

// follow stops a process when ctx is cancelled.
func follow(ctx context.Context, p Process, done <-chan struct{}) {
	go func() {
		select {
		case <-ctx.Done():
			p.Stop()
		case <-done:
		}
	}()
}

// launch starts a process that only Stop and Kill end.
func (l *Local) launch(cmd Command) (*child, error) {
	c, err := l.start(cmd)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.name(), err)
	}
	l.mu.Lock()
	l.running[c] = struct{}{}
	l.mu.Unlock()
	go l.watch(c)
	return c, nil
}

// Kill ends everything that runs, without a grace.
func (l *Local) Kill() {
	l.each((*child).kill)
}

func (l *Local) each(do func(*child)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.running {
		do(c)
	}
}

func (l *Local) start(cmd Command) (*child, error) {
	path, err := cmd.program()
	if err != nil {
		return nil, err
	}
	files, err := cmd.open()
	if err != nil {
		return nil, err
	}
	defer closeAll(files)
	if cmd.End != "" {
		_ = os.Remove(cmd.End) // an old one would be taken for this one's
	}
	c := &child{
		local: l, cmd: cmd, left: map[member]bool{},
		hurry: make(chan struct{}), dead: make(chan struct{}), done: make(chan struct{}),
	}
	if c.cmd.Wall, c.network, err = cmd.Wall.Connect(); err != nil {
		return nil, err
	}
	attr := &os.ProcAttr{Dir: cmd.Dir, Env: c.cmd.environ(), Files: append(files, c.network.Files...)}
	if err := l.procTable.launch(c, path, attr); err != nil {
		_ = c.network.Close()
		return nil, cmd.explain(path, err)
	}
	c.network.Open(&l.procTable.mu)
	return c, nil
}

// watch sees the leader die, decides how the command ended, ends what is left of it, and only then reaps the leader:
// until then neither its pid nor its group can become anyone else's.
func (l *Local) watch(c *child) {
	awaitDeath(c.pid)
	elapsed := time.Since(c.began)
	stopped := c.leaderDied()
	killed := stopped && c.linger()
	exit := l.procTable.bury(c)
	if !c.cmd.Wall.Wraps() { // bubblewrap leaves a process of its own
		exit.Strays = len(c.left)
	}
	exit.Elapsed, exit.Stopped, exit.Refused = elapsed, stopped, strings.Join(c.network.Close(), " ")
	exit.Killed = stopped && (killed || c.killed.Load())
	l.finish(c, c.when(exit))
}

// finish publishes how c ended, once.
func (l *Local) finish(c *child, exit Exit) {
	c.once.Do(func() {
		if c.cmd.End != "" {
			// On a full disk the file is missing and the exit is still told through Wait.
			_ = writeExit(c.cmd.End, exit)
		}
		l.mu.Lock()
		delete(l.running, c)
		l.mu.Unlock()
		c.exit = exit
		close(c.done)
	})
}

// openOutput opens an output file without following a link, which the last agent may have left in its place.
func openOutput(path string) (*os.File, error) {
	return openFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|noFollow)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // the child has its own descriptor; a second Close of a shared one is harmless
	}
}
