package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"relay/runners/sandbox"
	"relay/runners/sandbox/sandboxtest"
)

// Tools find what the user has downloaded or installed, download more into caches of their own, and cannot change the user's.
func TestCaches(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"go", "npm", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	for kind, box := range boxes(t) {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			box := *box
			box.Place = s.place
			s.shell(sandboxtest.Packages)
			t.Cleanup(func() { s.shell(`chmod -R u+w .`) }) // modules of go are read-only
			sums := `cd home && find . ! -path './.claude*' -type f -exec sha256sum {} + | sort; chmod -R u+w go`
			before := s.shell(sums)
			s.run(&box, sandbox.SetUp, `mkdir -p $XDG_CACHE_HOME/pypoetry/virtualenvs/m-py3; echo kept > $XDG_CACHE_HOME/pypoetry/virtualenvs/m-py3/x`)
			for _, role := range []sandbox.Role{sandbox.Check, sandbox.Agent, sandbox.SetUp} {
				s.shell(`cp -r user/* state/worktrees/x/1`)
				if said, exit := s.run(&box, role, sandboxtest.Uses); exit.Code != 0 {
					t.Errorf("%s: %+v: %s", role, exit, said)
				}
				if role == sandbox.SetUp {
					break
				}
				said, _ := s.run(&box, role, `for f in $(find ~/go ~/.cache $ALL/state/caches/x/[!c]* -type f); do echo evil > $f; done; rm -rf ~/go ~/.cache
					f=$(find -L $GOMODCACHE/example.com -name p.go); echo evil > $f; rm $f`)
				if s.shell(sums) != before {
					t.Errorf("%s changed the user's caches: %s", role, said)
				}
			}
			said, _ := s.run(&box, sandbox.Agent, `cat $XDG_CACHE_HOME/pypoetry/virtualenvs/*/x; cd $ALL/state/caches/x/checks; echo evil | tee $(find . -type f)`)
			if !strings.HasPrefix(said, "kept\n") || strings.Contains(s.shell(`cat $(find state/caches/x/checks -type f)`), "evil") {
				t.Errorf("an agent has what set-up has made, or changes the caches of checks: %s", said)
			}
			s.shell(`rm -r home/.cache; mkdir -p home/.cache/ms-playwright`)
			if said, _ := s.run(&box, sandbox.Check, `ls -A $XDG_CACHE_HOME/ms-playwright`); said != "" {
				t.Errorf("left of what is gone: %s", said)
			}
		})
	}
}

// BenchmarkCaches finds 200 modules of go in the user's cache, and 300 more of which only go.mod is there, as at each start.
func BenchmarkCaches(b *testing.B) {
	s := newStage(b)
	box := sandbox.Sandbox{Place: s.place, Probe: sandbox.Probe{Kind: sandbox.Bubblewrap}, Setting: sandbox.Auto, Linked: &sync.Map{}}
	var sums, script strings.Builder
	for i := range 500 {
		name := fmt.Sprintf("example.com/organization/module%d", i)
		fmt.Fprintf(&sums, "%s v1.2.3/go.mod h1:%044d=\n", name, i)
		fmt.Fprintf(&script, "mkdir -p cache/download/%s/@v; touch cache/download/%[1]s/@v/v1.2.3.{info,mod}\n", name)
		if i < 200 {
			fmt.Fprintf(&sums, "%s v1.2.3 h1:%044d=\n", name, i)
			fmt.Fprintf(&script, "mkdir %s@v1.2.3; touch cache/download/%[1]s/@v/v1.2.3.zip{,hash}\n", name)
		}
	}
	dir := filepath.Join(s.place.Slots, "1")
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), []byte(sums.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	s.shell("mkdir -p home/go/pkg/mod/example.com/organization; cd home/go/pkg/mod; bash <<'END'\n" + script.String() + "END")
	for b.Loop() {
		if _, err := box.Wall(sandbox.Process{Role: sandbox.Agent, Dir: dir, Env: s.env()}); err != nil {
			b.Fatal(err)
		}
	}
	links, err := filepath.Glob(filepath.Join(s.place.State, "caches/x/agents/gomodcache/example.com/organization/*"))
	if err != nil || len(links) != 200 {
		b.Errorf("%d links: %v", len(links), err)
	}
}
