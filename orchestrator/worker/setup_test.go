package worker

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
)

// Worktrees get what is configured, checks see it too, and none of it is committed.
func TestProvisioning(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	y.Write(".env", "key\n")
	y.Write("cache/deep/file", "cached\n")
	y.Write("vendored/lib", "lib\n")
	y.Write("node/mod", "mod\n")
	y.Write("seed.txt", "changed by the user\n")
	y.l.run.o.Worktree.Copy, y.l.run.o.Worktree.Share = []string{".env", "vendored/**", "seed.txt", "cache", "no-such-*", ".git", ".agents-os"}, []string{"node"}
	y.l.run.o.Worktree.Setup, y.l.run.o.Worktree.SetupWall = []string{"echo made > made.txt", "test -e made.txt"}, time.Minute
	const all = `test "$(cat .env vendored/lib cache/deep/file node/mod made.txt seed.txt | tr '\n' ' ')" = "key lib cached mod made seed "`
	r := y.proved("T1", all+`; test ! -L node; echo more >> node/mod; test ! -e .agents-os/relay/epic.yml; echo x > x; git add -A`, all)
	if got := y.step(r); got != "T1 success" {
		t.Fatal(got)
	}
	y.holds("x")
	if stay, err := y.life.Close(t.Context()); err != nil || len(stay) > 0 {
		t.Errorf("worktrees stay: %q, %v", stay, err)
	}
	y.Wants(map[string]string{"node/mod": "mod\n", "made.txt": "-", "seed.txt": "changed by the user\n"})
}

// A link that is committed does not lead what is copied out of the worktree.
func TestProvisioningStaysInside(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	outside := t.TempDir()
	if got := y.step(y.proved("T1", "ln -s "+outside+" config")); got != "T1 success" {
		t.Fatal(got)
	}
	y.Write("config/.env", "key\n")
	y.l.run.o.Worktree.Copy = []string{"config/.env"}
	a := engine.Attempt{Run: y.l.run.o.Run, Task: epic.Task{ID: "T2", Title: "T2"}, Number: 1, Runner: "true"}
	a.Base = y.l.headGuard.Tip()
	f, err := y.l.Run(t.Context(), a)
	if want := "config/.env, which relay.worktree.copy names, cannot be put into the worktree: mkdirat config: statat config: path escapes from parent"; err != nil || f.Outcome != attempts.Environment || f.Receipt.ErrorSummary != want {
		t.Errorf("got %v, %s %q, want %q", err, f.Outcome, f.Receipt.ErrorSummary, want)
	}
	if left := y.Sh("ls -A " + outside); left != "" {
		t.Errorf("outside there is %s now", left)
	}
}

// What a work removes stays away though the user's checkout has it, what the user has removed meanwhile is no error, and
// neither .git nor relay's own folders are looked through.
func TestProvisioningGivesWhatIsUntracked(t *testing.T) {
	t.Parallel()
	l := newLab(t, "true")
	for _, name := range []string{"conf/old.yml", "conf/link.yml"} {
		l.Write(name, "old\n")
	}
	l.Sh("git add -A; git commit -qm conf; mkdir -p .wt/7 .git/x; touch .wt/7/.env .git/x/.env conf/.env; mkdir gone; touch gone/a gone/.env")
	o := l.slotOptions()
	o.Worktree.Copy, o.Worktree.Share, o.Worktree.Dir = []string{"conf/**", "**/.env", "gone/a", "later"}, []string{"conf/link*"}, l.Path(".wt")
	y := l.inSlots(o)
	l.Sh("rm -r gone; echo l > later")
	const check = "test -e conf/.env && test -e later && test ! -e conf/old.yml && test ! -e conf/link.yml && test ! -e gone"
	if got := y.step(y.proved("T1", "git rm -q conf/*.yml", check)); got != "T1 success" {
		t.Errorf("got %s: %s", got, y.last.Receipt.ErrorSummary)
	}
}

// What an agent changes of what the set-up has made, or relay has brought, is kept and told.
func TestAlteredSetUpIsKept(t *testing.T) {
	t.Parallel()
	l := newLab(t, "true")
	l.Write(".env", "key\n")
	l.Sh("echo dist/ > .gitignore; git add .gitignore; git commit -qm ignore")
	o := l.slotOptions()
	o.Worktree.Copy, o.Worktree.Setup, o.Worktree.SetupWall = []string{".env"}, []string{"echo 1 | tee made.lock same big; mkdir dist; echo x > dist/x; touch -d '1 minute ago' made.lock same big dist/x"}, time.Minute
	y := l.inSlots(o)
	f := y.does("T1", "echo more >> made.lock; echo more >> .env; : > .gitignore; echo page > dist/page; echo own > own; truncate -s 9M big; exit 3").Result
	kept := ".agents-os/relay/runs/" + y.l.run.o.Run + "/T1/1/altered"
	want := ".env, big, dist/page and 1 more is of the set-up or was brought by relay: what the agent changed of it is in no commit, and is kept, but for big, which is too large or cannot be read, in " + kept
	if len(f.Notes) != 1 || f.Notes[0].Text != want {
		t.Errorf("notes are %+v, want %q", f.Notes, want)
	}
	y.Wants(map[string]string{kept + "/made.lock": "1\nmore\n", kept + "/.env": "key\nmore\n", kept + "/dist/page": "page\n", kept + "/big": "-", kept + "/same": "-", kept + "/dist/x": "-"})
}

func TestSetUpFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command, want string
		wall          time.Duration
	}{
		"status":    {"echo no registry; exit 7", `set-up command "echo no registry; exit 7": exit status 7: no registry`, time.Minute},
		"too long":  {"sleep 60", `set-up command "sleep 60": took longer than 50ms`, 50 * time.Millisecond},
		"not there": {"no-such-program", `set-up command "no-such-program": exit status 127: bash: line 1: no-such-program: command not found`, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newSlotLab(t)
			y.l.run.o.Worktree.Setup, y.l.run.o.Worktree.SetupWall = []string{c.command}, c.wall
			f := y.does("T1", "echo the agent ran > x").Result
			if f.Outcome != attempts.Environment || f.Receipt.ErrorSummary != c.want || f.Head != "" {
				t.Errorf("got %s %q, head %q; want environment %q and no work", f.Outcome, f.Receipt.ErrorSummary, f.Head, c.want)
			}
		})
	}
}

// A work that cannot be set up is charged when what it was put on can be.
func TestWorkThatBreaksTheSetUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setup   string
		outcome attempts.Outcome
		why     string
	}{
		"the work":    {"test ! -e broken", attempts.Check, `set-up command "test ! -e broken": exit status 1; without this work it succeeds`},
		"the machine": {"test ! -e \"$RELAY_DIR/down\"", attempts.Environment, `set-up command "test ! -e \"$RELAY_DIR/down\"": exit status 1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newSlotLab(t, "true")
			y.l.run.o.Worktree.Setup, y.l.run.o.Worktree.SetupWall = []string{c.setup}, time.Minute
			f := y.does("T1", "echo x > broken; touch \"$RELAY_DIR/down\"", "true").Result
			if f.Outcome != c.outcome || f.Receipt.ErrorSummary != c.why {
				t.Errorf("got %s %q, want %s %q", f.Outcome, f.Receipt.ErrorSummary, c.outcome, c.why)
			}
			run := f.Receipt.Checks[len(f.Receipt.Checks)-1]
			if (run.Phase == attempts.PhaseTask) != (c.outcome == attempts.Check) || run.Log == "" || run.ExitCode != 1 {
				t.Errorf("the receipt has %+v", run)
			}
		})
	}
}

// A set-up command that fails for a moment is repeated, before the agent and with its work, and nothing follows from its failures.
func TestSetUpIsRepeated(t *testing.T) {
	t.Parallel()
	const flaky = `seen="$RELAY_DIR/seen"; echo x >> "$seen"; test "$(wc -l < "$seen")" -gt 3`
	for name, setup := range map[string]string{"before": flaky, "with the work": "test ! -e work || {\n" + flaky + "\n}"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newSlotLab(t, "true")
			y.l.run.o.Worktree.Setup, y.l.run.o.Worktree.SetupWall = []string{setup}, time.Minute
			if got := y.step(y.proved("T1", "echo x > work", "true")); got != "T1 success" {
				t.Error(got)
			}
		})
	}
}

// A set-up is repeated from its first command in a slot as it was: what a failed command left there does not decide.
func TestSetUpIsRepeatedInAFreshSlot(t *testing.T) {
	t.Parallel()
	const once = `test -e "$RELAY_DIR/once" || { touch "$RELAY_DIR/once" left; exit 1; }; test -e first && test ! -e left`
	for name, c := range map[string]struct {
		setup   []string
		outcome attempts.Outcome
	}{
		"passes by what it left":            {[]string{"test -d .venv || { mkdir .venv; exit 1; }"}, attempts.Environment},
		"needs the command before it again": {[]string{"touch first", once}, attempts.Success},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newSlotLab(t)
			y.l.run.o.Worktree.Setup, y.l.run.o.Worktree.SetupWall = c.setup, time.Minute
			if f := y.does("T1", "echo x > x", "true").Result; f.Outcome != c.outcome {
				t.Errorf("got %s %q, want %s", f.Outcome, f.Receipt.ErrorSummary, c.outcome)
			}
		})
	}
}

// A run that is stopped does not wait until a set-up command may be repeated.
func TestSetUpIsNotRepeatedAfterAStop(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	y.l.run.o.Worktree.Setup, y.l.run.o.Worktree.SetupWall, y.l.run.o.Limits.Backoff = []string{"exit 7"}, time.Minute, 1000*time.Hour
	ctx, stop := context.WithCancel(t.Context())
	y.l.run.checks.Emit = func(e engine.Event) {
		if e.Kind == engine.KindSettingUp {
			time.AfterFunc(100*time.Millisecond, stop)
		}
	}
	a := engine.Attempt{Run: y.l.run.o.Run, Task: epic.Task{ID: "T1", Title: "T1"}, Number: 1, Runner: "true", Base: y.l.headGuard.Tip()}
	f, err := y.l.Run(ctx, a)
	if err != nil || f.Outcome != attempts.Stopped {
		t.Errorf("got %v, %s %q; want it stopped", err, f.Outcome, f.Receipt.ErrorSummary)
	}
}

// A work that cannot be set up where it lands fails as one whose checks fail there.
func TestSetUpFailsWhereItLands(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t, "true")
	y.l.run.o.Worktree.Setup, y.l.run.o.Worktree.SetupWall = []string{"test ! -e one -o ! -e two"}, time.Minute
	one, two := y.proved("T1", "echo 1 > one"), y.proved("T2", "echo 2 > two")
	if got := y.step(one); got != "T1 success" {
		t.Fatal(got)
	}
	const want = `it merges, but then set-up command "test ! -e one -o ! -e two": exit status 1; without this work it succeeds (landed since it began: T1, in one)`
	if got := y.step(two); got != "T2 conflict" || y.last.Receipt.ErrorSummary != want {
		t.Errorf("got %s: %s", got, y.last.Receipt.ErrorSummary)
	}
}

// An agent is told which of the epic's checks are red already.
func TestRedBefore(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t, "test -e never", "true")
	y.proved("T1", `echo 1 > one; sed -n '/fail already/,$p' "$RELAY_PROMPT" | grep -qx -e '- test -e never' && ! grep -qx -e '- true' "$RELAY_PROMPT"`)
}

// A file that the task or a check names and that git ignores does not vanish with the worktree: its agent and the user are told.
func TestIgnoredWorkIsKept(t *testing.T) {
	t.Parallel()
	l := newLab(t, "true")
	l.Sh("echo 'generated/' > .gitignore; git add .gitignore; git commit -qm ignore")
	y := l.inSlots(l.slotOptions())
	folder := ".agents-os/relay/runs/" + y.l.run.o.Run + "/"
	note := "git ignores generated/api.md: it does not land, and is kept in " + folder
	f := y.does("T1", "mkdir generated; echo api > generated/api.md; echo other > generated/other; echo x > x", "test -e generated/api.md").Result
	if want := "test -e generated/api.md: exit status 1; git ignores generated/api.md: it is in no commit, and not part of what was checked"; f.Outcome != attempts.Check || f.Receipt.ErrorSummary != want {
		t.Errorf("got %s %q, want %q", f.Outcome, f.Receipt.ErrorSummary, want)
	}
	if got := texts(f.Notes); !strings.Contains(got, note+"T1/1/ignored") {
		t.Errorf("notes are %q", got)
	}
	f = y.try(epic.Task{ID: "T2", Files: []string{"generated/*.md", "x"}}, "mkdir generated; echo api > generated/api.md; echo x > x").Result
	if got := texts(f.Notes); f.Outcome != attempts.Success || !strings.Contains(got, note+"T2/1/ignored") {
		t.Errorf("got %s, notes are %q", f.Outcome, got)
	}
	f = y.does("T4", "mkdir generated; ln -s /bin/sh generated/sh; echo 4 > four", "test ! -e generated/sh || generated/sh -c true").Result
	if f.Outcome != attempts.Success || len(f.Notes) > 0 {
		t.Errorf("a link: got %s %q, notes are %q", f.Outcome, f.Receipt.ErrorSummary, texts(f.Notes))
	}
	f = y.does("T3", "mkdir generated; echo other > generated/other; echo 3 > three", "grep -q 3 three").Result
	if f.Outcome != attempts.Success || len(f.Notes) > 0 {
		t.Errorf("got %s, notes are %q", f.Outcome, texts(f.Notes))
	}
	y.Wants(map[string]string{folder + "T1/1/ignored/generated/api.md": "api\n", folder + "T1/1/ignored/generated/other": "-", folder + "T2/1/ignored/generated/api.md": "api\n"})
}

// A pre-commit hook that fails once on a work, and passes when it is repeated alone, is not held against it.
func TestHookThatIsFlaky(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	hook := y.Path(".git/hook")
	y.Write(".git/hook", "#!/bin/sh\ngit diff --cached --quiet && exit\necho x >> \"$RELAY_DIR/calls\"\ntest \"$(wc -l < \"$RELAY_DIR/calls\")\" -gt 1\n")
	y.Sh("chmod +x .git/hook")
	y.l.run.o.Hook = hook
	if got := y.step(y.proved("T1", "echo x > work")); got != "T1 success" {
		t.Errorf("got %s: %s", got, y.last.Receipt.ErrorSummary)
	}
	y.Wants(map[string]string{".agents-os/relay/calls": "x\nx\nx\nx\n"})
}

// A dependency of the work is installed by the program whose lock file is nearest. If that fails, the work's failure stays and says how,
// unless a server was out of reach; if there is no such program, a person is to set something.
func TestDependenciesOfTheWork(t *testing.T) {
	t.Parallel()
	const check = "cd web || exit 0; test -e node_modules/pad || { echo \"Error: Cannot find module 'pad'\"; exit 1; }"
	for name, c := range map[string]struct {
		program, does, lock string
		want                attempts.Outcome
		words               string
	}{
		"nearest is the root's": {"pnpm", "mkdir -p node_modules; touch node_modules/pad", "pnpm-lock.yaml", attempts.Success, ""},
		"no lock file":          {"npm", "mkdir -p node_modules; touch node_modules/pad", "a.txt", attempts.Success, ""},
		"no such program":       {"other", "", "bun.lock", attempts.Environment, "pad is a dependency of web/package.json, and task checkouts have none installed"},
		"not in the registry":   {"npm", "echo \"npm error 404  'pad@1' is not in this registry.\"; exit 1", "package-lock.json", attempts.Check, "npm error 404  'pad@1' is not in this registry."},
		"out of reach":          {"npm", "echo npm error code EAI_AGAIN; exit 1", "package-lock.json", attempts.Environment, "exit status 1"},
		"hangs":                 {"npm", "sleep 3600", "package-lock.json", attempts.Check, "1s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y, bin := newSlotLab(t), t.TempDir()
			if err := os.WriteFile(filepath.Join(bin, c.program), []byte("#!/bin/sh\n"+c.does+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, program := range []string{"sh", "mkdir", "touch", "sleep", "git"} {
				if path, err := exec.LookPath(program); err != nil || os.Symlink(path, filepath.Join(bin, program)) != nil {
					t.Fatal(err)
				}
			}
			own := func(variable string) bool { return strings.HasPrefix(variable, "PATH=") }
			y.l.run.o.Env = append(slices.DeleteFunc(slices.Clone(y.l.run.o.Env), own), "PATH="+bin)
			y.l.run.o.Worktree.SetupWall = map[bool]time.Duration{true: time.Second, false: time.Minute}[name == "hangs"]
			r := y.does("T1", "touch "+c.lock+`; mkdir web; echo node_modules/ > .gitignore; echo '{"dependencies": {"pad": "1"}}' > web/package.json; git add -A; git commit -qm x`, check).Result
			if got := r.Receipt.ErrorSummary; r.Outcome != c.want || !strings.Contains(got, c.words) {
				t.Errorf("got %s %q, want %s %q", r.Outcome, got, c.want, c.words)
			}
		})
	}
}
