package labtest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relay/cmd/relay/internal/terminal"
	"relay/runners/sandbox/sandboxtest"
)

// TestPackages has an agent and a check add packages in the sandbox, use what only the user's caches hold,
// and read the login of a registry.
// Neither can change these.
func TestPackages(t *testing.T) {
	needsMore(t)
	t.Parallel()
	for _, program := range []string{"go", "npm", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	if exec.Command("bwrap", "--ro-bind", "/", "/", "true").Run() != nil {
		t.Skip("no bubblewrap starts here")
	}
	for name, within := range map[string]string{
		"bubblewrap as root":   `exec "$@"`,
		"bubblewrap as a user": asUser + `"$@"`,
		"Landlock as root":     `PATH=HOME/none:$PATH exec "$@"`,
		"Landlock as a user":   `PATH=HOME/none:$PATH ` + asUser + `"$@"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "", "sh ~/uses.sh >&2 && ok\n")
			l.env = append(l.env, "RELAY_SANDBOX=auto", "RELAY_ISOLATION=worktree")
			const harm = "set +e; for f in $(find ~/go ~/.cache ~/.npmrc -type f); do echo evil > $f; done 2> /dev/null; rm -rf ~/go ~/.cache 2> /dev/null\n"
			l.write(l.inHome("uses.sh"), sandboxtest.Uses+"grep secret ~/.npmrc\n"+harm+"exit 0\n")
			l.write(l.inHome(".npmrc"), "//registry.example.com/:_authToken=secret\n")
			l.write(l.inHome("none/bwrap"), "#!/bin/sh\nexit 1\n")
			l.write(".agents-os/relay/epic.yml", "version: 2\nid: 20260101-packages\ntitle: Packages\ntasks:\n"+
				"  T1: {title: One, checks: [sh ~/uses.sh, grep -q other service/go.mod]}\n")
			shell := func(script string) string {
				t.Helper()
				cmd := exec.Command("sh", "-c", script)
				cmd.Dir, cmd.Env = filepath.Dir(l.root), l.env
				said, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, said)
				}
				return string(said)
			}
			shell(sandboxtest.Packages + `cp -r user/* work; cd work; git add .; git commit -qm Packages; chmod 755 ~/none/bwrap; chmod -R u+w ~/go`)
			t.Cleanup(func() { shell(`chmod -R u+w ~`) }) // modules of go are read-only
			const sums = `cd; find go .cache .npmrc -type f -exec sha256sum {} + | sort`
			before := shell(sums)
			putRelay(t, l.inHome("bin"))
			if strings.Contains(within, asUser) {
				give(t, filepath.Dir(filepath.Dir(l.root)), 65534)
			}
			r := l.prepared(nil, "work")
			r.cmd.Path, r.cmd.Args = "/bin/sh", []string{"sh", "-c", strings.ReplaceAll(within, "HOME", l.home), "sh", l.inHome("bin/relay"), "work"}
			l.begin(r)
			l.end(r)
			r.wants(t, terminal.OK)
			r.says(t, "note: sandbox: "+strings.Fields(name)[0])
			if after := shell(sums); after != before {
				t.Errorf("the user's caches were changed:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}
