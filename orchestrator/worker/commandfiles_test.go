package worker

import (
	"slices"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
)

// What decides a check, and was changed though the task does not name it, is put back for another run of the checks.
func TestChangedChecks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent, check string
		files        []string
		want         string
	}{
		"a script":            {"echo exit 0 > check.sh", "sh check.sh", nil, "check.sh"},
		"its own":             {"echo exit 0 > check.sh", "sh check.sh", []string{"check.sh"}, ""},
		"a test":              {"echo exit 0 > tests/smoke.sh", "sh tests/smoke.sh", nil, "tests/smoke.sh"},
		"another":             {"echo exit 1 2 > other.sh", "sh check.sh", nil, ""},
		"a Makefile":          {`printf 'test:\n\ttrue\n' > Makefile`, "make test || true", []string{"src/**"}, "Makefile"},
		"scripts of npm":      {`sed -i 's/jest/true/' package.json`, "npm test || true", nil, "package.json"},
		"one thing more":      {`sed -i 's/"a": "1.0"/"a": "^1.1.0",\n    "@b\/c": "~2.0"/' package.json`, "npm test || true", nil, ""},
		"a crate more":        {`echo 'serde = { version = "1", features = ["derive"] }' >> Cargo.toml`, "cargo test || true", nil, ""},
		"no tests of a crate": {`printf '[lib]\ntest = false\n' >> Cargo.toml`, "cargo test || true", nil, "Cargo.toml"},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			l := newLab(t, c.agent)
			l.Write("tests/smoke.sh", "exit 0 # smoke\n")
			l.Write("check.sh", "exit 0 # once\n")
			l.Write("other.sh", "exit 1\n")
			l.Write("Makefile", "test:\n\ttrue once\n")
			l.Write("package.json", "{\n  \"scripts\": {\n    \"test\": \"jest\"\n  },\n  \"dependencies\": {\n    \"a\": \"1.0\"\n  }\n}\n")
			l.Write("Cargo.toml", "[dependencies]\n")
			l.Git("add", "-A")
			l.Git("commit", "-q", "-m", "Checks")
			l.begin()
			f := l.try(epic.Task{ID: "T1", Title: "One", Files: c.files, Checks: checksOf([]string{c.check})}, nil)
			if f.Outcome != attempts.Success {
				t.Errorf("got %s (%s)", f.Outcome, f.Receipt.ErrorSummary)
			}
			if got := strings.Join(f.Old.Changed, " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLinksOutside(t *testing.T) {
	t.Parallel()
	l := newLab(t, "mkdir sub; ln -s /etc/passwd away; ln -s ../../up sub/up; ln -s ../seed.txt sub/in; ln -s .. sub/top; ln -s nowhere broken").begin()
	f := l.try(epic.Task{}, nil)
	var got []string
	for _, n := range f.Notes {
		got = append(got, n.Kind+": "+n.Text)
	}
	want := []string{
		"link: away is a link to /etc/passwd, outside the repository: no other clone has what is there",
		"link: sub/up is a link to ../../up, outside the repository: no other clone has what is there",
	}
	if f.Outcome != attempts.Success || !slices.Equal(got, want) {
		t.Errorf("got %s, %q", f.Outcome, got)
	}
}
