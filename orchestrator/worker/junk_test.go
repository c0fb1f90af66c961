package worker

import (
	"slices"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
)

// token has the shape of a secret, put together so that this file has none.
var token = "ghp" + "_" + "0123456789abcdefABCDEF0123456789abcd"

// relay commits what an agent left, but for products of tools, large files and secrets that the plan does not name.
func TestJunkIsLeftOut(t *testing.T) {
	t.Parallel()
	const work = "echo x > x.txt; "
	for name, c := range map[string]struct {
		script string
		title  string
		files  []string
		want   string // the files of the work
		notes  string
		looks  string
	}{
		"products": {
			script: work + "mkdir -p node_modules/a web/node_modules/b .venv/lib; echo 1 > node_modules/a/i.css; echo 1 > web/node_modules/b/i.css; echo 1 > web/app.css; echo 1 > .venv/lib/p; echo 1 > core.4711",
			want:   "web/app.css x.txt", notes: "relay did not commit .venv, core.4711, node_modules and 1 more, as the task does not name them",
		},
		"a large file": {
			script: work + "head -c 2097153 /dev/zero > dump.bin", want: "x.txt",
			notes: "relay did not commit dump.bin (2 MiB), as the task does not name it",
		},
		"a large file that the task names": {
			script: work + "head -c 2097153 /dev/zero > dump.bin", title: "Add dump.bin", want: "dump.bin x.txt",
		},
		"a large file of the task's files": {
			script: work + "head -c 2097153 /dev/zero > data/dump.bin", files: []string{"data/**", "x.txt"}, want: "data/dump.bin x.txt",
		},
		"a secret":                  {script: work + "echo TOKEN > deploy.cfg", want: "x.txt", notes: "relay did not commit deploy.cfg (github-pat), as the task does not name it"},
		"an environment":            {script: work + "echo A=b > .env.local", want: "x.txt", notes: "relay did not commit .env.local, as the task does not name it"},
		"committed by the agent":    {script: work + "mkdir node_modules; echo 1 > node_modules/i.css; git add -A; git commit -qm x", want: "node_modules/i.css x.txt", looks: "not asked for: it commits node_modules, which the task does not name"},
		"large, committed":          {script: work + "head -c 2097153 /dev/zero > dump.bin; git add -A; git commit -qm x", want: "dump.bin x.txt", looks: "not asked for: it commits dump.bin (2 MiB), which the task does not name"},
		"a secret, committed":       {script: "echo TOKEN > deploy.cfg; git add -A; git commit -qm x", want: "deploy.cfg", looks: "secret: it adds what looks like a secret: deploy.cfg (github-pat)"},
		"a secret in a tracked one": {script: "echo TOKEN >> seed.txt", want: "seed.txt", looks: "secret: it adds what looks like a secret: seed.txt (github-pat)"},
		"a secret, taken out again": {
			script: "echo TOKEN > x.txt; git add -A; git commit -qm x; echo x > x.txt; git commit -qam y", want: "x.txt",
			notes: "x.txt (github-pat) was in an earlier commit of the attempt: relay made one commit of them, without it",
		},
		"a branch of the user's": {script: work + "git add -A; git commit -qm x; git merge -q --no-edit origin/feature", want: "f.txt x.txt", looks: "foreign branch: it merges feature, which lands with it"},
		"a product with a name that the task has": {
			script: "mkdir -p .venv/lib lib; echo 1 > lib/a.css; echo 1 > .venv/lib/a.css", title: "Write a.css", files: []string{"**"}, want: "lib/a.css",
			notes: "relay did not commit .venv, as the task does not name it",
		},
		"a product that the task names": {
			script: "mkdir node_modules; echo 1 > node_modules/i.css", title: "Vendor node_modules.", want: "node_modules/i.css",
		},
		"a folder named core": {script: "mkdir core; echo x > core/x.css; mkdir env; echo x > env/x.css", want: "core/x.css env/x.css"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "true")
			l.Sh("mkdir data; echo 1 > data/1; git add data; git commit -qm Data; git switch -qc feature; echo f > f.txt; git add f.txt; git commit -qm F; git switch -q main")
			o := l.slotOptions()
			o.Limits.MaxFile = 2 << 20
			y := l.inSlots(o)
			a := engine.Attempt{
				Run: y.l.run.o.Run, Number: 1, Runner: strings.ReplaceAll(c.script, "TOKEN", token),
				Task: epic.Task{ID: "T1", Title: "One " + c.title, Files: c.files, Checks: checksOf([]string{"true"})},
			}
			var err error
			if a.Base, err = y.l.Prepare(y.Context(), a); err != nil {
				t.Fatal(err)
			}
			r, err := y.l.Run(y.Context(), a)
			if err != nil || r.Outcome != attempts.Success {
				t.Fatalf("got %s %q, %v", r.Outcome, r.Receipt.ErrorSummary, err)
			}
			if got := strings.ReplaceAll(y.Git("diff", "--name-only", a.Base, r.Head), "\n", " "); got != c.want {
				t.Errorf("the work has %q, want %q", got, c.want)
			}
			if got := texts(r.Notes); c.notes != "" && !slices.Contains(strings.Split(got, "\n"), c.notes) || c.notes == "" && strings.Contains(got, "did not commit") {
				t.Errorf("noted %q, want %q", got, c.notes)
			}
			looks := ""
			for _, look := range r.Receipt.Looks {
				looks += look.Cause + ": " + look.Text
			}
			if looks != c.looks {
				t.Errorf("looks are %q, want %q", looks, c.looks)
			}
			if strings.Contains(y.Git("log", "-p", a.Base+".."+r.Head), token) != strings.HasPrefix(c.looks, "secret") {
				t.Error("the commits of the work have the secret, or have not")
			}
		})
	}
}

// A check that fails for want of a file that relay left out is not charged.
func TestCheckWithoutWhatWasLeftOut(t *testing.T) {
	t.Parallel()
	l := newLab(t, "true")
	l.Sh("echo wc -c model.bin > check.sh; git add check.sh; git commit -qm Check")
	o := l.slotOptions()
	o.Limits.MaxFile = 2 << 20
	r := l.inSlots(o).does("T1", "echo x > x; head -c 2097153 /dev/zero > model.bin", "sh check.sh").Result
	const want = "relay did not commit model.bin (2 MiB), as the task does not name it: an agent that needs it there commits it itself"
	if r.Outcome.Charged() || !strings.Contains(r.Receipt.ErrorSummary, want) {
		t.Errorf("got %s %q", r.Outcome, r.Receipt.ErrorSummary)
	}
}
