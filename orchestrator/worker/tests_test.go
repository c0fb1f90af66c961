package worker

import (
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
)

func TestDeletedTests(t *testing.T) {
	t.Parallel()
	const ruling = "is new, and can change the result of other tests"
	const allowed, fewer = "is not a test any more, as the task's files allow", "asserts less than before: 1 fewer assertions"
	for name, c := range map[string]struct {
		agent string
		files []string
		want  attempts.Outcome
		note  string
	}{
		"deleted":            {"rm tests/a.txt; echo x > x", nil, attempts.Success, "tests/a.txt was deleted"},
		"declared":           {"rm tests/a.txt; echo x > x", []string{"tests/**"}, attempts.Success, "tests/a.txt " + allowed},
		"named":              {"rm tests/a.txt; echo x > x", []string{"./tests/a.txt"}, attempts.Success, ""},
		"moved out of sight": {"git mv tests/a.txt old.txt", nil, attempts.Success, "tests/a.txt was deleted"},
		"renamed":            {"git mv tests/a.txt tests/b.txt", nil, attempts.Success, ""},
		"changed":            {"echo more >> tests/a.txt", nil, attempts.Success, ""},
		"a link":             {"ln -sf ../seed.txt tests/a.txt", nil, attempts.Success, "tests/a.txt was deleted"},
		"a link, declared":   {"ln -sf ../seed.txt tests/a.txt", []string{"tests"}, attempts.Success, "tests/a.txt " + allowed},
		"not run by Go":      {"git mv a_test.go _a_test.go", nil, attempts.Success, "a_test.go was deleted"},
		"data for Go":        {"mkdir testdata; git mv a_test.go testdata/", nil, attempts.Success, "a_test.go was deleted"},
		"a copy":             {"git mv a_test.go a_test.go.off", nil, attempts.Success, "a_test.go was deleted"},
		"renamed, with less": {"git mv a_test.go b_test.go; sed -i '/2, 2/d' b_test.go", nil, attempts.Success, "a_test.go " + fewer},
		"in the folder":      {"sed -i '/2, 2/d' a_test.go", []string{"*.go"}, attempts.Success, "a_test.go " + fewer},
		"one of such":        {"sed -i '/2, 2/d' a_test.go", []string{"**/*_test.go"}, attempts.Success, "a_test.go " + fewer},
		"not shown":          {"echo '*_test.go -diff' > .gitattributes; sed -i '/2, 2/d' a_test.go", nil, attempts.Success, "a_test.go " + fewer},
		"in a source":        {"sed -i '/4, 4/d' lib.rs", nil, attempts.Success, "lib.rs " + fewer},
		"no source of tests": {"sed -i /assert/d main.rs", nil, attempts.Success, ""},
		"not collected":      {"echo 'collect_ignore_glob = [\"*\"]' > conftest.py", nil, attempts.Success, "conftest.py " + ruling},
		"all pass":           {"echo 'func TestMain(m *testing.M) { os.Exit(0) }' > main_test.go", nil, attempts.Success, "main_test.go " + ruling},
		"reported":           {"echo 'def pytest_runtest_makereport(item):' > conftest.py", nil, attempts.Success, "conftest.py " + ruling},
		"set up for all":     {"echo 'func TestMain(m *testing.M) { os.Exit(m.Run()) }' > main_test.go", nil, attempts.Success, ""},
		"collected no more":  {"git mv tests/test_b.py tests/b_old.py", nil, attempts.Success, "tests/test_b.py was deleted"},
		"another result":     {"sed -i 's/1, 1/1, 7/' a_test.go", nil, attempts.Success, "a_test.go asserts something else than before: 1 assertions changed"},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 5)
			t.Parallel()
			l := newLab(t, c.agent)
			l.Write("a_test.go", "package a\n\nfunc TestA(t *testing.T) {\n\tassert.Equal(t, 1, 1)\n\tassert.Equal(t, 2, 2)\n\tassert.Equal(t, 3, 3)\n}\n")
			l.Write("tests/test_b.py", "def test_b():\n    assert True\n")
			l.Write("lib.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        assert_eq!(3, 3);\n        assert_eq!(4, 4);\n    }\n}\n")
			l.Write("main.rs", "fn main() {\n    assert!(true_enough());\n}\n")
			l.Git("add", "-A")
			l.Git("commit", "-q", "-m", "Tests")
			l.begin()
			f := l.try(epic.Task{ID: "T1", Title: "One", Files: c.files}, nil)
			if f.Outcome != c.want {
				t.Errorf("got %s (%s), want %s", f.Outcome, f.Receipt.ErrorSummary, c.want)
			}
			got := ""
			for _, n := range f.Notes {
				got += n.Text
			}
			if got != c.note || len(f.Weakened) != len(f.Notes) {
				t.Errorf("notes: %q, want %q", got, c.note)
			}
		})
	}
}
