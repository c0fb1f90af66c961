package sandbox_test

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"relay/runners/process"
	"relay/runners/sandbox"
)

// stage is a run's surroundings: a home with keys, a checkout, two slots that borrow its objects, and a process of somebody else.
type stage struct {
	t      testing.TB
	folder string
	place  sandbox.Place
	victim *exec.Cmd
	cli    string // of agents
}

func newStage(tb testing.TB) *stage {
	tb.Helper()
	folder := tb.TempDir()
	in := func(names ...string) string { return filepath.Join(append([]string{folder}, names...)...) }
	s := &stage{t: tb, folder: folder, place: sandbox.Place{
		Root: in("checkout"), Git: in("checkout", ".git"), Folder: in("checkout", ".agents-os", "relay"), Slots: in("state", "worktrees", "x"),
		State: in("state"), Temp: filepath.Dir(filepath.Dir(folder)),
	}}
	s.shell(`mkdir -p home/.ssh home/.claude/plugins checkout/.agents-os/relay state/worktrees/x temp/1
		echo secret > home/.ssh/id; echo secret > home/.netrc; echo kept > home/.bashrc
		echo kept > home/.claude/settings.json; echo kept > home/.claude.json
		cd checkout; git init -q; echo kept > a; echo secret > .agents-os/relay/ledger
		 echo .agents-os > .gitignore; git add .; git commit -qm Begin; cd ..
		for n in 1 2; do git clone -qs checkout state/worktrees/x/$n; done; mkdir -p checkout/.agents-os/relay/out`)
	s.victim = exec.Command("sleep", "1000")
	s.victim.Env = []string{"KEY=secret"}
	if err := s.victim.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.victim.Process.Kill(); _ = s.victim.Wait() })
	return s
}

// shell runs a script outside of any sandbox, and returns what it printed.
func (s *stage) shell(script string) string {
	s.t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = s.folder, s.env()
	said, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", script, err, said)
	}
	return string(said)
}

func (s *stage) env() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(s.folder, "home"), "TMPDIR=" + filepath.Join(s.folder, "temp", "1"), "ALL=" + s.folder,
		"RELAY_RESULT=" + filepath.Join(s.place.Folder, "out", "result.json"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b.c", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b.c",
	}
	if s.victim != nil {
		env = append(env, "VICTIM="+strconv.Itoa(s.victim.Process.Pid))
	}
	return env
}

// run runs a script in the first slot as a role, and returns what it printed with how it ended.
func (s *stage) run(box *sandbox.Sandbox, role sandbox.Role, script string) (string, process.Exit) {
	s.t.Helper()
	cmd := process.Command{
		Argv: []string{"sh", "-c", script}, Env: s.env(), Dir: filepath.Join(s.place.Slots, "1"), Stdout: filepath.Join(s.t.TempDir(), "out"),
		Role: role, StopGrace: 5 * time.Second,
	}
	cmd.Stderr = cmd.Stdout
	if role == sandbox.Agent || role == sandbox.Reviewer {
		cmd.CLI = cmp.Or(s.cli, "claude")
	}
	var err error
	if cmd.Wall, err = box.Wall(sandbox.Process{Role: role, CLI: cmd.CLI, Dir: cmd.Dir, Env: cmd.Env}); err != nil {
		s.t.Fatal(err)
	}
	p, err := process.NewLocal().Start(s.t.Context(), cmd)
	if err != nil {
		s.t.Fatal(err)
	}
	exit := p.Wait()
	said, err := os.ReadFile(cmd.Stdout)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(said), exit
}

// attacks are what a process must not do. The first group is seen in what it prints: a secret. The second changes what belongs to others.
var attacks = map[string]struct {
	role     sandbox.Role
	script   string
	after    string // what is printed outside afterwards, unless the attack worked; "": no secret is printed inside
	landlock bool   // Landlock cannot stop it
	root     bool   // only root can do it at all
}{
	"read a key":                         {role: sandbox.Agent, script: `cat ~/.ssh/id`},
	"read a login":                       {role: sandbox.Agent, script: `cat ~/.netrc`},
	"read a login in set-up of work":     {role: sandbox.SetUpFor, script: `cat ~/.netrc`},
	"read a login in a check":            {role: sandbox.Check, script: `cat ~/.netrc ~/.claude.json | sed s/kept/secret/`},
	"read the checkout in a check":       {role: sandbox.Check, script: `sed s/kept/secret/ $ALL/checkout/a`},
	"read the ledger in a check":         {role: sandbox.Check, script: `cat $ALL/checkout/.agents-os/relay/ledger`},
	"read another slot":                  {role: sandbox.Agent, script: `sed s/kept/secret/ $ALL/state/worktrees/x/2/a`},
	"read another environment":           {role: sandbox.Agent, script: `tr '\0' '\n' < /proc/$VICTIM/environ`},
	"read temporary files of others":     {role: sandbox.Agent, script: `cat $ALL/temp/other`},
	"read temporary files in /tmp":       {role: sandbox.Agent, script: `cat /tmp/relay-sandbox-test-$VICTIM`, landlock: true},
	"write a profile":                    {role: sandbox.Agent, script: `echo evil >> ~/.bashrc`, after: `cat home/.bashrc`},
	"empty a profile":                    {role: sandbox.Agent, script: `truncate -s 0 ~/.bashrc`, after: `cat home/.bashrc`},
	"write the settings of its CLI":      {role: sandbox.Agent, script: `echo evil > ~/.claude/settings.json; rm -f ~/.claude/settings.json`, after: `cat home/.claude/settings.json`},
	"remove the home":                    {role: sandbox.Agent, script: `rm -rf ~`, after: `cat home/.bashrc home/.ssh/id`},
	"remove the checkout":                {role: sandbox.Agent, script: `rm -rf $ALL/checkout`, after: `cat checkout/a; git -C checkout status`},
	"overwrite the checkout":             {role: sandbox.Agent, script: `echo evil > $ALL/checkout/a; cp /bin/ls $ALL/checkout/`, after: `cat checkout/a; ls checkout`},
	"remove the checkout in a check":     {role: sandbox.Check, script: `rm -rf $ALL/checkout`, after: `cat checkout/a; git -C checkout status`},
	"hook the checkout":                  {role: sandbox.Agent, script: `mkdir -p $ALL/checkout/.git/hooks; echo evil > $ALL/checkout/.git/hooks/pre-commit`, after: `ls checkout/.git/hooks/pre-commit 2>&1 || :`},
	"overwrite objects":                  {role: sandbox.Agent, script: `cd $ALL/checkout/.git/objects; chmod -R u+w .; for f in ??/*; do echo evil > $f; done`, after: `git -C checkout fsck`},
	"overwrite objects in a check":       {role: sandbox.Check, script: `cd $ALL/checkout/.git/objects; chmod -R u+w .; for f in ??/*; do echo evil > $f; done`, after: `git -C checkout fsck`},
	"forge the ledger":                   {role: sandbox.Agent, script: `echo evil >> $ALL/checkout/.agents-os/relay/ledger`, after: `cat checkout/.agents-os/relay/ledger`},
	"write another slot":                 {role: sandbox.Agent, script: `echo evil > $ALL/state/worktrees/x/2/a; rm -rf $ALL/state/worktrees/x/2`, after: `cat state/worktrees/x/2/a`},
	"write as a reviewer":                {role: sandbox.Reviewer, script: `echo evil > a; rm -f a`, after: `cat state/worktrees/x/1/a`},
	"kill another process":               {role: sandbox.Agent, script: `kill -9 $VICTIM && until grep -q "State:.Z" /proc/$VICTIM/status; do :; done`, after: `grep -c "State:.Z" /proc/$VICTIM/status || :`},
	"mount the folder for writing":       {role: sandbox.Agent, script: `mount -o remount,rw,bind $ALL $ALL; mount --bind $ALL $ALL; umount -l $ALL; echo evil > ~/.bashrc`, after: `cat home/.bashrc`},
	"write the memory of another":        {role: sandbox.Agent, script: `echo x > /proc/$VICTIM/mem; echo 500 > /proc/$VICTIM/oom_score_adj`, after: `cat /proc/$VICTIM/oom_score_adj`},
	"set the kernel":                     {role: sandbox.Agent, script: `n=/proc/sys/kernel/domainname; v=$(cat $n); echo "$v" > $n && echo secret`, root: true},
	"remove a file of the user by chmod": {role: sandbox.Agent, script: `chmod -R 777 ~ $ALL/checkout`, after: `stat -c %a home/.ssh home/.bashrc checkout/a`, landlock: true},
}

// Each attack is stopped, by bubblewrap and as far as possible by Landlock, and works without a sandbox.
func TestAttacks(t *testing.T) {
	t.Parallel()
	all := boxes(t)
	all[sandbox.None] = &sandbox.Sandbox{Setting: sandbox.Auto}
	for kind, box := range all {
		for name, a := range attacks {
			t.Run(string(kind)+"/"+name, func(t *testing.T) {
				t.Parallel()
				if kind == sandbox.Landlock && strings.Contains(a.script, "cat /tmp/") && strings.HasPrefix(t.TempDir(), "/tmp/") {
					t.Skip("Landlock opens no folder below which something is hidden, and the test's own folders are there")
				}
				s := newStage(t)
				box := *box
				box.Place = s.place
				if kind != sandbox.None {
					box.Setting = sandbox.Require
				}
				s.shell(`echo secret > temp/other; echo secret > /tmp/relay-sandbox-test-$VICTIM`)
				defer os.Remove("/tmp/relay-sandbox-test-" + strconv.Itoa(s.victim.Process.Pid))
				before := s.shell(a.after)
				said, _ := s.run(&box, a.role, a.script)
				worked := strings.Contains(said, "secret")
				if a.after != "" {
					worked = s.outside(a.after) != before
				}
				want := a.landlock && kind == sandbox.Landlock || kind == sandbox.None && (!a.root || os.Getuid() == 0)
				if worked != want {
					t.Errorf("it worked: %v, want %v; it said:\n%s", worked, want, said)
				}
			})
		}
	}
}

// outside is shell for a script that may fail.
func (s *stage) outside(script string) string {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = s.folder, s.env()
	said, _ := cmd.CombinedOutput()
	return string(said)
}

// boxes returns the sandboxes that start here.
// A link that a process leaves where the next one may write opens nothing to that one. Set-up of work has fewer rights than set-up.
func TestLinks(t *testing.T) {
	t.Parallel()
	const steal = `; cat ~/.ssh/id; echo evil > ~/.ssh/evil; echo evil >> ~/.bashrc`
	for kind, box := range boxes(t) {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			box := *box
			box.Place, box.Setting = s.place, sandbox.Require
			s.shell(`mkdir -p home/go/pkg/mod home/go/pkg/sumdb; echo kept > home/go/pkg/mod/m`)
			for role, attack := range map[sandbox.Role]string{
				sandbox.Agent:    `cd ~/.claude; rm -rf projects session-env commands; ln -s ~/.ssh session-env; ln -s ~ projects; ln -s ~/.ssh commands`,
				sandbox.SetUp:    `rm -rf ~/go/pkg/mod; ln -s ~/.ssh ~/go/pkg/mod`,
				sandbox.SetUpFor: `echo evil > ~/go/pkg/mod/m; rm -rf ~/go`,
			} {
				first, _ := s.run(&box, role, attack+steal)
				second, _ := s.run(&box, role, attack+steal)
				if said := first + second; strings.Contains(said, "secret") {
					t.Errorf("%s reads keys: %s", role, said)
				}
			}
			if got := s.shell(`cat home/.bashrc; ls home/.ssh`); got != "kept\nid\n" {
				t.Error(got)
			}
		})
	}
}

func boxes(tb testing.TB) map[sandbox.Kind]*sandbox.Sandbox {
	tb.Helper()
	found := map[sandbox.Kind]*sandbox.Sandbox{}
	for _, path := range []string{os.Getenv("PATH"), "/nowhere"} {
		probe := sandbox.Try(tb.Context(), path)
		found[probe.Kind] = &sandbox.Sandbox{Probe: probe, Setting: sandbox.Auto}
	}
	delete(found, sandbox.None)
	if len(found) == 0 {
		tb.Skip("no sandbox starts here")
	}
	return found
}

// What agents, checks and set-up do in good faith works inside.
func TestWork(t *testing.T) {
	t.Parallel()
	scripts := map[sandbox.Role]string{
		sandbox.Agent: `echo more >> a; mkdir d; mv a d/b; git add -A; git commit -qm Work; echo ok > $RELAY_RESULT; f=$(mktemp); echo x > $f
			mkdir -p ~/.claude/projects/p; echo x > ~/.claude/projects/p/s.jsonl; echo x > ~/.claude.json
			cat ~/.claude/settings.json $ALL/checkout/a > /dev/null
			echo x > $GOCACHE-x || mkdir -p $GOCACHE; echo x > /dev/null; sleep 0.01 & wait; ls / ~ > /dev/null; python3 -c '' 2>&1 || :`,
		sandbox.Reviewer: `git log -p -1 > /dev/null; git diff HEAD; echo ok > $RELAY_RESULT; mktemp > /dev/null`,
		sandbox.Check:    `git log -1 > /dev/null; git fsck; git checkout -q -b other; mkdir -p $GOCACHE/a; echo x > built; f=$(mktemp); echo x > $f`,
		sandbox.SetUp:    `grep -q secret ~/.netrc; cat $ALL/checkout/a; mkdir -p $GOCACHE; echo x > built`,
	}
	for kind, box := range boxes(t) {
		for role, script := range scripts {
			t.Run(string(kind)+"/"+string(role), func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				box := *box
				box.Place = s.place
				if said, exit := s.run(&box, role, "set -e\n"+script); exit.Code != 0 {
					t.Errorf("exit %+v: %s", exit, said)
				}
			})
		}
	}
}

// A folder of its own does not take the machine's memory.
func TestPrivate(t *testing.T) {
	t.Parallel()
	box := boxes(t)[sandbox.Bubblewrap]
	if box == nil || !box.Bounds {
		t.Skip("no bubblewrap that bounds folders")
	}
	s := newStage(t)
	box.Place = s.place
	if said, exit := s.run(box, sandbox.Agent, `for f in /tmp /dev/shm; do df -Pk $f | awk 'END {print $2}'; done`); exit.Code != 0 || said != "1048576\n1048576\n" {
		t.Errorf("got %q, %+v, want a GiB each", said, exit)
	}
}

// A CLI makes what it keeps in a home where nothing of it is there yet. Its settings are not its own.
func TestStates(t *testing.T) {
	t.Parallel()
	for kind, box := range boxes(t) {
		for cli, made := range map[string]string{
			"gemini":   ".gemini/projects.json .gemini/tmp/a",
			"opencode": ".local/share/opencode/a .local/state/opencode/a .cache/opencode/a .config/opencode/.gitignore",
			"claude":   ".claude/projects/a !.claude/settings.json !.claude/hooks/a !.claude/CLAUDE.md",
			"codex":    "!.codex/config.toml !.codex/hooks.json !.codex/prompts/a",
		} {
			t.Run(string(kind)+"/"+cli, func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				s.cli = cli
				box := *box
				box.Place = s.place
				if kind == sandbox.Landlock && cli == "codex" {
					t.Skip("codex does not run in it")
				}
				if kind == sandbox.Bubblewrap {
					made += map[string]string{"gemini": " !.gemini/settings.json", "opencode": " !.config/opencode/plugin/a !.config/opencode/opencode.json"}[cli]
				}
				s.shell("rm -rf home/.claude")
				said, exit := s.run(&box, sandbox.Agent, "cd; for f in "+strings.ReplaceAll(made, "!", "")+"; do echo x > $f && echo $f; done 2> /dev/null; :")
				for f := range strings.FieldsSeq(made) {
					name, not := strings.CutPrefix(f, "!")
					if strings.Contains(said, name+"\n") == not {
						t.Errorf("%s: written %v; exit %+v: %s", name, not, exit, said)
					}
				}
			})
		}
	}
}

// A process in a sandbox is asked to end like any other, and its exit status is its own.
func TestEnd(t *testing.T) {
	t.Parallel()
	for kind, box := range boxes(t) {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			box := *box
			box.Place = s.place
			if _, exit := s.run(&box, sandbox.Check, "exit 7"); exit.Code != 7 || exit.Strays != 0 {
				t.Errorf("exit %+v, want 7", exit)
			}
			out := filepath.Join(s.folder, "said")
			cmd := process.Command{
				Argv: []string{"sh", "-c", `trap 'echo obeyed; exit 3' TERM; echo ready; while :; do sleep 0.05; done`}, Env: s.env(), Dir: filepath.Join(s.place.Slots, "1"),
				Stdout: out, Stderr: out, StopGrace: 10 * time.Second,
			}
			cmd.Wall, _ = box.Wall(sandbox.Process{Role: sandbox.Check, Dir: cmd.Dir, Env: cmd.Env})
			p, err := process.NewLocal().Start(t.Context(), cmd)
			if err != nil {
				t.Fatal(err)
			}
			for said := []byte(nil); !bytes.Contains(said, []byte("ready")); {
				said, _ = os.ReadFile(out)
			}
			p.Stop()
			if exit := p.Wait(); exit.Code != 3 || exit.Killed || !exit.Stopped {
				t.Errorf("stopped: %+v, want 3", exit)
			}
		})
	}
}

// A start costs little more inside than outside: the median, which a busy machine moves less than the mean.
func BenchmarkStart(b *testing.B) {
	all := boxes(b)
	all[sandbox.None] = &sandbox.Sandbox{Setting: sandbox.Off}
	for _, in := range []struct {
		name  string
		kind  sandbox.Kind
		hosts []string
	}{
		{"none", sandbox.None, nil},
		{"bubblewrap", sandbox.Bubblewrap, nil},
		{"Landlock", sandbox.Landlock, nil},
		{"bubblewrap without network", sandbox.Bubblewrap, []string{}},
		{"bubblewrap with hosts", sandbox.Bubblewrap, []string{"example.com"}},
		{"Landlock with hosts", sandbox.Landlock, []string{"example.com"}},
	} {
		if all[in.kind] == nil {
			continue
		}
		b.Run("in "+in.name, func(b *testing.B) {
			s, sup := newStage(b), process.NewLocal()
			box := *all[in.kind]
			box.Place = s.place
			box.Agents = in.hosts
			cmd := process.Command{Argv: []string{"true"}, Env: s.env(), Dir: filepath.Join(s.place.Slots, "1"), Stdout: filepath.Join(s.folder, "said")}
			cmd.Stderr = cmd.Stdout
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				wall, err := box.Wall(sandbox.Process{Role: sandbox.Agent, CLI: "claude", Dir: cmd.Dir, Env: cmd.Env})
				if err != nil {
					b.Fatal(err)
				}
				cmd.Wall = wall
				p, err := sup.Start(b.Context(), cmd)
				if err != nil || p.Wait().Code != 0 {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
		})
	}
}
