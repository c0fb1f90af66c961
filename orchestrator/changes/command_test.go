package changes

import "testing"

func TestScriptsOfCommands(t *testing.T) {
	t.Parallel()
	for run, want := range map[string]map[string]bool{
		"sh check.sh":                          {"check.sh": true, "sub/check.sh": false, "other.sh": false},
		"./check.sh --all":                     {"check.sh": true},
		"cd web && bash -ex ci/run.sh":         {"web/ci/run.sh": true, "ci/run.sh": true, "web/run.sh": false},
		`sh -c 'CI=1 exec ./a.sh; . b.sh'`:     {"a.sh": true, "b.sh": true},
		"timeout 60 python3 tools/verify.py x": {"tools/verify.py": true, "x": false},
		"python -m pytest verify.py":           {"verify.py": false},
		"grep -q hello greet.txt":              {"greet.txt": false},
		"test -f out.txt && node check.js":     {"out.txt": false, "check.js": true},
		"! bin/lint || true":                   {"bin/lint": true},
	} {
		c := ParseCommand(run)
		for p, is := range want {
			if c.Runs(p) != is {
				t.Errorf("%s: runs(%s) = %v, want %v", run, p, !is, is)
			}
		}
	}
}
