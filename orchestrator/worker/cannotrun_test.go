package worker

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
)

// What no commit can bring is the environment's, and told with what to do; what a task may be there to make is not.
func TestCannotRun(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	y.Write(".gitignore", "node_modules/\n.venv\n.env\n*.log\n")
	y.Write("package.json", `{"devDependencies": {"vitest": "4", "jest": "30"}}`)
	y.Write("web/package.json", `{"dependencies": {"@scope/kit": "1"}}`)
	y.Write("requirements.txt", "requests==2.0\nFlask-Login>1\n")
	y.Write("verify.sh", "true\n")
	y.Write("greet/x.py", "")
	y.Write("Makefile", "all:\n\tno-such-linter .\n")
	y.Sh("git add -A; git commit -qm more")
	y.Write("node_modules/.bin/jest", "")
	y.Write("node_modules/express/index.js", "")
	y.Write("local.sh", "true\n")
	y.l.run.o.Epic.Tasks = []epic.Task{{ID: "T1", Files: []string{"bin/mytool.go", "gen/**"}}}
	base := y.Sh("git rev-parse HEAD | tr -d '\\n'")
	worktree := filepath.Join(y.l.run.o.Worktree.Dir, "check-1")
	y.l.run.checks.Began = time.Now().Add(time.Minute)
	y.Write("new.sh", "true\n")
	if later := time.Now().Add(time.Hour); os.Chtimes(y.Path("new.sh"), later, later) != nil {
		t.Fatal("the time of new.sh cannot be set")
	}
	y.Write(".env", "A=1\n")
	const env = ".env is ignored by git, so task checkouts lack it: relay.worktree.copy: [.env]"
	for name, c := range map[string]struct {
		run  string
		code int
		tail string
		want string
	}{
		"ignored, the user has it":     {"node_modules/.bin/jest", 127, "sh: 1: node_modules/.bin/jest: not found", "node_modules/.bin/jest is ignored by git, so task checkouts lack it: relay.worktree.share: [node_modules]"},
		"by npm":                       {"npm test", 127, "sh: 1: jest: not found", "node_modules/.bin/jest is ignored by git, so task checkouts lack it: relay.worktree.share: [node_modules]"},
		"by npm, nobody has it":        {"npm test", 127, "sh: 1: vitest: not found", "vitest is a dependency of package.json, and task checkouts have none installed: relay.worktree.setup: [npm ci]"},
		"ignored, nobody has it":       {".venv/bin/pytest -q", 127, "sh: 1: .venv/bin/pytest: not found", ".venv/bin/pytest is ignored by git, so task checkouts lack it, and your checkout does too: make it there and relay.worktree.share: [.venv], or have task checkouts make it, as in relay.worktree.setup: [npm ci]"},
		"written meanwhile":            {"./new.sh", 127, "sh: 1: ./new.sh: not found", ""},
		"not committed":                {"./local.sh", 127, "sh: 1: ./local.sh: not found", "local.sh is in your checkout and in no commit, so task checkouts lack it: commit it, or relay.worktree.copy: [local.sh]"},
		"not executable":               {"./verify.sh", 126, "sh: 1: ./verify.sh: Permission denied", "verify.sh is not executable, or the interpreter in its first line is missing: git update-index --chmod=+x verify.sh and commit, or install the interpreter"},
		"a program":                    {"no-such-tool --all", 127, "sh: 1: no-such-tool: not found", "the program no-such-tool is not on the PATH: install it, or add its folder to the PATH that relay is started with"},
		"a program, by bash":           {"set -o pipefail; no-such-tool|tee log", 127, "bash: line 1: no-such-tool: command not found", "the program no-such-tool is not on the PATH: install it, or add its folder to the PATH that relay is started with"},
		"a program the base names":     {"make", 2, "make: no-such-linter: No such file or directory\nmake: *** [Makefile:2: all] Error 127", "the program no-such-linter is not on the PATH: install it, or add its folder to the PATH that relay is started with"},
		"a program the work names":     {"make", 2, "make: pyhton: No such file or directory\nmake: *** [Makefile:2: all] Error 127", ""},
		"a program in a folder to be":  {"cd app && no-such-tool test", 1, "bash: line 1: cd: app: No such file or directory", "the program no-such-tool is not on the PATH: install it, or add its folder to the PATH that relay is started with"},
		"by dash, in a subshell":       {"(cd app/ui && no-such-tool)", 2, "sh: 1: cd: can't cd to app/ui", "the program no-such-tool is not on the PATH: install it, or add its folder to the PATH that relay is started with"},
		"installed, in a folder to be": {"cd app && git status", 1, "bash: line 1: cd: app: No such file or directory", ""},
		"the shell's own":              {"cd app && source x", 1, "bash: line 1: cd: app: No such file or directory", ""},
		"a script in a folder to be":   {"cd app && ./test", 1, "bash: line 1: cd: app: No such file or directory", ""},
		"a task makes it there":        {"cd app && mytool", 1, "bash: line 1: cd: app: No such file or directory", ""},
		"its folder is there":          {"cd web && no-such-tool", 1, "no tests", ""},
		"elsewhere on the machine":     {"/opt/no/such", 127, "sh: 1: /opt/no/such: not found", "/opt/no/such is not on this machine: install it, or change the check"},
		"a node module":                {"node test.js", 1, "Error: Cannot find module 'express/lib'", "node_modules/express is ignored by git, so task checkouts lack it: relay.worktree.share: [node_modules]"},
		"a node module below":          {"cd web && node test.js", 1, "Error: Cannot find module '@scope/kit/x'", "@scope/kit is a dependency of web/package.json, and task checkouts have none installed: relay.worktree.setup: [npm ci]"},
		"a python module":              {"python3 x.py", 1, "ModuleNotFoundError: No module named 'requests.auth'", "the python module requests, which requirements.txt names, is not installed: pip install -r requirements.txt, or relay.worktree.setup"},
		"in other letters":             {"python3 x.py", 1, "ModuleNotFoundError: No module named 'flask_login'", "the python module flask_login, which requirements.txt names, is not installed: pip install -r requirements.txt, or relay.worktree.setup"},
		"a python tool":                {"python3 -m pytest", 1, "/usr/bin/python3: No module named pytest", "the python module pytest is not installed: pip install pytest"},
		"a task makes it":              {"./run-tests.sh", 127, "sh: 1: ./run-tests.sh: not found", ""},
		"a task makes it, whole":       {"sh run.sh", 2, "sh: 0: cannot open " + worktree + "/run.sh: No such file", ""},
		"a task declares it":           {"mytool --version", 127, "sh: 1: mytool: not found", ""},
		"a task declares its folder":   {"gen/run", 127, "sh: 1: gen/run: not found", ""},
		"on a PATH of its own":         {"PATH=bin:$PATH tool", 127, "sh: 1: tool: not found", ""},
		"a module to be written":       {"python3 -m unittest", 1, "ModuleNotFoundError: No module named 'hello'", ""},
		"a module of its own":          {"python3 -m unittest", 1, "ModuleNotFoundError: No module named 'greet.fr'", ""},
		"a node file to be written":    {"node --test", 1, "Error: Cannot find module './greet'", ""},
		"it ran":                       {"go test ./...", 1, "--- FAIL: TestA (0.00s)", ""},
		"settings, by python":          {"python3 -m unittest", 1, "FileNotFoundError: [Errno 2] No such file or directory: '.env'", env},
		"settings, by pytest":          {"pytest", 1, "E       FileNotFoundError: [Errno 2] No such file or directory: '.env'\nFAILED t.py", env},
		"settings, by node":            {"node --test", 1, "  error: \"ENOENT: no such file or directory, open '.env'\"\nnot ok 1", env},
		"settings, by go":              {"go test", 1, "    x_test.go:10: open .env: no such file or directory\nFAIL", env},
		"another file, by python":      {"python3 -m unittest", 1, "FileNotFoundError: [Errno 2] No such file or directory: 'a.log'", ""},
	} {
		check := checks.Check{Check: epic.Check{Name: "unit", Run: c.run}}
		want := c.want
		if want != "" {
			want = "unit cannot run: " + want
		}
		if got := y.l.run.checks.CannotRun(t.Context(), check, attempts.CheckRun{ExitCode: c.code, Tail: c.tail}, base); got != want {
			t.Errorf("%s: got  %q\nwant %q", name, got, want)
		}
	}
}

// What a check that ran in the user's own checkout lacks is to be mended there.
func TestCannotRunInTheCheckout(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	y.l.run.o.Isolation = engine.IsolationNone
	y.Write(".gitignore", "node_modules/\n.venv\n")
	y.Write("package.json", `{"devDependencies": {"vitest": "4"}}`)
	y.Write("requirements.txt", "requests==2.0\n")
	y.Sh("git add -A; git commit -qm more")
	y.Write("node_modules/express/index.js", "")
	y.Write("local.sh", "true\n")
	base := y.Sh("git rev-parse HEAD | tr -d '\\n'")
	for name, c := range map[string]struct {
		code       int
		tail, want string
	}{
		"not installed":    {127, "sh: 1: vitest: not found", "vitest is a dependency of package.json, and it is not installed: npm ci"},
		"ignored":          {127, "sh: 1: .venv/bin/pytest: not found", ".venv/bin/pytest is ignored by git, and it is not in your checkout: make it there"},
		"not executable":   {126, "sh: 1: ./local.sh: Permission denied", "local.sh is not executable: chmod +x local.sh"},
		"a module there":   {1, "Error: Cannot find module 'express/lib'", ""},
		"a module missing": {1, "ModuleNotFoundError: No module named 'requests'", "the python module requests, which requirements.txt names, is not installed: pip install -r requirements.txt"},
	} {
		if c.want != "" {
			c.want = "unit cannot run: " + c.want
		}
		check := checks.Check{Check: epic.Check{Name: "unit", Run: "make test"}}
		if got := y.l.run.checks.CannotRun(t.Context(), check, attempts.CheckRun{ExitCode: c.code, Tail: c.tail}, base); got != c.want {
			t.Errorf("%s: got  %q\nwant %q", name, got, c.want)
		}
	}
}

// What task checkouts get a copy of is not advised again.
func TestCannotRunWithShared(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	y.l.run.o.Worktree.Share = []string{".venv", "node_modules"}
	y.Write(".gitignore", "node_modules/\n.venv\n")
	y.Sh("git add -A; git commit -qm more")
	y.Write(".venv/bin/zz-pytest", "")
	y.Write("node_modules/express/index.js", "")
	base := y.Sh("git rev-parse HEAD | tr -d '\\n'")
	for tail, want := range map[string]string{
		"sh: 1: zz-pytest: not found":            "zz-pytest cannot run: the program zz-pytest is not on the PATH: write .venv/bin/zz-pytest in the check, or start relay with that environment activated",
		"Error: Cannot find module 'express/no'": "",
	} {
		check := checks.Check{Check: epic.Check{Name: "zz-pytest", Run: "zz-pytest"}}
		if got := y.l.run.checks.CannotRun(t.Context(), check, attempts.CheckRun{ExitCode: 127, Tail: tail}, base); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
