// Package sandbox builds the wall around the processes that a run starts.
//
// A [Sandbox] knows the place of a run and what starts on this system. From the role of a process it decides what that may write, read
// and see (roles.go). bubblewrap enforces the rules with mounts; where it does not start, Landlock does, as far as it goes.
//
// The guardian starts the process: inside bubblewrap, or from a thread that has restricted itself and then ends.
package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Kind names what enforces a wall.
type Kind string

// The kinds. None means that nothing does.
const (
	None       Kind = ""
	Bubblewrap Kind = "bubblewrap"
	Landlock   Kind = "Landlock"
	Seatbelt   Kind = "sandbox-exec" // of macOS: untried, so only for those who require a sandbox
)

// The settings of relay.sandbox.
const (
	Auto    = "auto"
	Require = "require"
	Off     = "off"
)

// Mode says what a process can do with a path and everything below it.
type Mode int

// The modes. Private is a new, empty folder that only this process can see; Landlock shares the real one.
const (
	Hidden Mode = iota
	ReadOnly
	Writable
	Private
)

// privateSize bounds a private folder, which is in memory, in bytes.
const privateSize = 1 << 30

// Rule gives a path its mode. A rule for a path below it is stronger.
type Rule struct {
	Path string
	Mode Mode
}

// Wall is what one process is started in. A nil wall restricts nothing.
type Wall struct {
	Kind    Kind
	Program []string // bubblewrap and its first arguments
	Bounds  bool     // bubblewrap can bound the size of a folder in memory
	Title   string   // the first argument that bubblewrap shows to processes inside
	Empty   string   // the file that stands in for hidden files
	Rules   []Rule   // each after those of the folders above
	Env     []string // replaces variables of the process

	Alone bool     // it has no network but its own loopback, and
	Hosts []string // these, through a [Link]
	Ports []int    // Landlock knows only ports: those that it may connect to
}

// SocketVariable names the socket of its run to an agent.
const SocketVariable = "RELAY_SOCKET"

// Place is where a run works. Paths are absolute.
type Place struct {
	Home   string // of the user
	Root   string // the user's checkout
	Git    string // its common git folder
	Folder string // relay's, with ledger and transcripts
	Slots  string // the folder with the checkouts of tasks
	State  string // relay's folder for state; "": none
	Temp   string // for temporary files of the user
	Socket string // of the run, which agents may ask what relay's folder holds; "": they may read that
	Hook   string // a program in the checkout that checks may run; "": none

	Write, Sockets []string // what all roles may write and connect to besides
	Checks, Agents []string // hosts that they may reach; nil: all
	Logins         bool     // set-up of agents' work has the user's logins
}

// Sandbox makes the walls of a run.
type Sandbox struct {
	Place
	Probe
	Setting string    // Auto, Require or Off
	Outside []string  // commands, of checks and set-up, that have no wall unless one is required
	Linked  *sync.Map // the caches of go that have links to the modules of a go.sum, by its digest; nil: each start looks for them
}

// Process describes a process that is about to start.
type Process struct {
	Role Role
	Env  []string

	Dir, CLI string   // CLI is the type of the agent; "": none that relay knows
	Run      string   // the command of a check or set-up
	Allow    []string // what Refused has returned: it is tried whether the process succeeds with that
	Write    []string // what it may write besides
}

// All stands for all commands that are [Sandbox.Outside].
const All = "all commands"

func (s *Sandbox) isOutside(p Process) bool {
	return p.Role.IsCommand() && (slices.Contains(s.Outside, p.Run) || slices.Contains(s.Outside, All))
}

// Wall returns the wall for a process; nil if it has none. It fails if a wall is required and there is none.
func (s *Sandbox) Wall(p Process) (*Wall, error) {
	if s == nil || s.Setting == Off || p.Role == Bare || s.Setting == Auto && (!s.Holds(p.CLI) || s.isOutside(p)) {
		return nil, map[bool]error{true: ErrUntried}[len(p.Allow) > 0] // without a wall, a trial has all that already
	}
	if !s.Holds(p.CLI) {
		return nil, fmt.Errorf("relay.sandbox is require, and no sandbox starts for %s: %s", cmp.Or(p.CLI, string(p.Role)), s.Why)
	}
	switch outside := slices.ContainsFunc(p.Allow, func(path string) bool { return s.needsOutside(path, p) }); {
	case s.Setting == Require && (outside || p.Role == SetUpWith):
		return nil, ErrUntried
	case outside:
		return nil, nil //nolint:nilnil // auto tries it without
	}
	r := s.rules(p)
	w := &Wall{Kind: s.Kind, Program: s.Program, Bounds: s.Bounds, Title: Title + s.Root, Rules: r.sorted(), Env: r.env}
	w.Hosts = s.hosts(r)
	w.Alone = w.Hosts != nil
	if s.State != "" {
		w.Empty = filepath.Join(s.State, "empty")
		if err := errors.Join(os.MkdirAll(s.State, 0o700), os.WriteFile(w.Empty, nil, 0o400)); err != nil && !errors.Is(err, os.ErrPermission) {
			return nil, err
		}
	}
	return w, nil
}

// Unknown begins what stands for the CLI of an agent with a state that relay does not know: only a required sandbox holds it.
const Unknown = "agent "

// Holds reports whether there is a wall for the agents of a CLI; "": for other processes.
func (s *Sandbox) Holds(cli string) bool {
	able := s != nil && (s.Kind == Bubblewrap || s.Kind == Landlock || s.Kind == Seatbelt && s.Setting == Require)
	return able && s.Setting != Off && (s.Kind == Bubblewrap || !nests[cli]) && (s.Setting == Require || cli == "" || Knows(cli))
}

// needsOutside reports whether a trial of a path runs outside of the sandbox, or not at all if that is required.
func (s *Sandbox) needsOutside(path string, p Process) bool {
	if path == Logins || isHost(path) || isSocket(path) {
		return isSocket(path) && (s.Setting == Require || guarded.MatchString(path))
	}
	_, err := os.Lstat(strings.Replace(path, "~", (&ruleset{process: p}).variable("HOME"), 1)) // relay makes no missing folder for a trial
	return err != nil || guarded.MatchString(path)
}

// Allows reports whether the wall of a check lets it use each path and host of a list for which there is a setting. No wall allows all.
func (s *Sandbox) Allows(refused []string) bool {
	w, _ := s.Wall(Process{Role: Check, Env: []string{"HOME=" + s.Home}}) // a run that must have one does not begin without
	known := func(path string) bool { return settingOf(path) != "" }
	return w == nil || slices.ContainsFunc(refused, known) && !slices.ContainsFunc(refused, func(path string) bool {
		if isHost(path) {
			host, port, _ := strings.Cut(path, ":")
			return w.Alone && !listed(w.Hosts, host, cmp.Or(port, "443"))
		}
		real := strings.Replace(path, "~", s.Home, 1)
		return path == Logins && !s.Logins || known(path) && keptFrom(w, real, isSocket(path), bounded.MatchString(path)) != ""
	})
}

// Title begins the first argument of bubblewrap. The folder where the user typed the command follows it.
const Title = "relay-sandbox:"

// Posture says in one line what holds the processes of a run with agents of these CLIs; "" if the user wants no sandbox.
func (s *Sandbox) Posture(clis ...string) string {
	holds, unknown := string(s.Kind), []string{}
	switch {
	case s.Setting == Off:
		return ""
	case s.Kind == None:
		return "none: " + s.Why
	case s.Kind == Seatbelt && s.Setting == Require:
		return "sandbox-exec, which relay has not tried yet"
	case s.Kind == Seatbelt:
		return "none: relay has not tried sandbox-exec yet, and uses it only with relay.sandbox: require"
	case s.Kind == Landlock:
		holds = "Landlock, without " + strings.Join(s.Lacks, ", ") + ": " + s.Why
	}
	for _, cli := range slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(clis))), s.Holds) {
		if name, ok := strings.CutPrefix(cli, Unknown); ok {
			unknown = append(unknown, name)
			continue
		}
		holds += "; " + cli + " outside of it, as its own sandbox does not start inside"
	}
	if len(unknown) > 0 {
		holds += fmt.Sprintf("; %s outside of it, as relay does not know what its CLI writes: relay.agents.%s.sandbox_write in your own settings names that",
			strings.Join(unknown, ", "), unknown[0])
	}
	return holds
}

// Environ returns an environment with the variables of the wall.
func (w *Wall) Environ(env []string) []string {
	if w == nil {
		return env
	}
	return append(slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(w.Env, func(own string) bool { return strings.HasPrefix(own, name+"=") })
	}), w.Env...)
}

// Wraps reports whether the process that starts first is bubblewrap: it ends when the command does, and takes all else with it.
func (w *Wall) Wraps() bool { return w != nil && w.Kind == Bubblewrap }

// Wrap returns the program and the arguments that start a command inside the wall, in its folder.
func (w *Wall) Wrap(program string, argv []string, dir string) (string, []string) {
	if w != nil && w.Kind == Seatbelt {
		return w.Program[0], append([]string{w.Program[0], "-p", profile(w), program}, argv[1:]...)
	}
	if !w.Wraps() {
		return program, argv
	}
	args := append([]string{w.Title}, w.Program[1:]...)
	if w.Alone {
		args = append(args, "--unshare-net")
	}
	if len(w.Hosts) > 0 {
		args = append(args, "--info-fd", "3", "--block-fd", "4") // the files of its link
	}
	for _, r := range w.Rules {
		args = append(args, w.mount(r)...)
	}
	if dir != "" {
		args = append(args, "--chdir", dir)
	}
	return w.Program[0], append(append(args, "--", program), argv[1:]...)
}

// mount returns the arguments of bubblewrap for a rule. A rule of a path that is missing has none.
func (w *Wall) mount(r Rule) []string {
	info, err := os.Lstat(r.Path)
	if err != nil || r.Path == "/proc" || r.Path == "/dev" {
		return nil
	}
	switch {
	case r.Mode == Hidden && !info.IsDir():
		return []string{"--ro-bind", cmp.Or(w.Empty, os.DevNull), r.Path}
	case r.Mode == Hidden:
		return []string{"--tmpfs", r.Path}
	case r.Mode == Private && w.Bounds: // else it may take half of the memory
		return []string{"--perms", "1777", "--size", strconv.Itoa(privateSize), "--tmpfs", r.Path}
	case r.Mode == Private:
		return []string{"--perms", "1777", "--tmpfs", r.Path}
	case r.Mode == Writable && strings.HasPrefix(r.Path, "/dev/"):
		return []string{"--dev-bind", r.Path, r.Path}
	case r.Mode == Writable:
		return []string{"--bind", r.Path, r.Path}
	case r.Path == "/":
		args := []string{"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"}
		if os.Getuid() == 0 { // others cannot write it, and with it no sandbox inside this one could have a /proc
			args = append(args, "--ro-bind-try", "/proc/sys", "/proc/sys")
		}
		return args
	}
	return []string{"--ro-bind", r.Path, r.Path}
}

// Enter calls start, which starts the process, from a thread that is inside the wall.
func (w *Wall) Enter(start func() error) error {
	if w == nil || w.Kind != Landlock {
		return start()
	}
	if err := restricted(w, start); err != nil {
		return fmt.Errorf("in the sandbox: %w", err)
	}
	return nil
}
