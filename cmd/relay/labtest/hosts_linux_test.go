package labtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relay/cmd/relay/internal/terminal"
	"relay/runners/sandbox/sandboxtest"
)

// filtered runs a command under a filter of system calls: that of containers, or with "all" that of one on a kernel without Landlock.
func filtered() {
	sandboxtest.Filter(os.Args[1] == "all")
	path, err := exec.LookPath(os.Args[2])
	if err == nil {
		err = syscall.Exec(path, os.Args[2:], os.Environ())
	}
	panic(err)
}

// container are the rights that docker leaves to root.
const container = "setpriv --inh-caps=-all --bounding-set=-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+sys_chroot,+setfcap "

// TestHosts compares what relay check reports on each kind of host: what holds the processes of a run, why nothing better starts, and what
// mends that. A run on it must report the same.
func TestHosts(t *testing.T) {
	needsMore(t)
	t.Parallel()
	if exec.Command("bwrap", "--ro-bind", "/", "/", "true").Run() != nil {
		t.Skip("no bubblewrap starts here")
	}
	const older, landlock = "the kernel has no Landlock", "Landlock, without a /tmp"
	for name, host := range map[string]struct {
		within    string // a shell script that starts "$@", which is relay
		root      bool   // only root can make it
		check     string // what relay check says
		why, mend string
	}{
		"as root":       {`exec "$@"`, true, "ok    sandbox        bubblewrap", "", ""},
		"as a user":     {asUser + `"$@"`, true, "ok    sandbox        bubblewrap", "", ""},
		"as it is":      {`exec "$@"`, false, "ok    sandbox        bubblewrap", "", ""},
		"not installed": {`mkdir -p HOME/all; ln -fs /usr/bin/* HOME/all; rm HOME/all/bwrap; PATH=HOME/all exec "$@"`, false, landlock, "bubblewrap is not installed", "sudo apt-get install bubblewrap"},
		"user namespaces off": {
			`unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set -all --inh-caps -all "$@"' sh "$@"`, false,
			landlock, "user namespaces are off: user.max_user_namespaces is 0", "sudo sysctl user.max_user_namespaces=10000",
		},
		"container":           {"filtered namespaces " + container + `"$@"`, true, landlock, "a seccomp filter", "docker run --security-opt seccomp=unconfined"},
		"container of a user": {`filtered namespaces "$@"`, false, landlock, "a seccomp filter", "docker run --security-opt seccomp=unconfined"},
		"container on an older kernel": {
			`filtered all "$@"`, false, "none: ", "a seccomp filter, such as that of a container, refuses namespaces; " + older,
			"docker run --security-opt seccomp=unconfined",
		},
		"container, mended": {container + `"$@"`, true, "ok    sandbox        bubblewrap", "", ""},
		"container without its filter": {
			maskedProc + container + `"$@"`, true, landlock, "the container hides parts of /proc", "docker run --security-opt systempaths=unconfined",
		},
		"container of a user without its filter": {
			maskedProc + asUser + `"$@"`, true, landlock, "the container hides parts of /proc", "docker run --security-opt systempaths=unconfined",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if host.root && os.Getuid() != 0 || name == "as it is" && os.Getuid() == 0 {
				t.Skip("for another user")
			}
			agent := "echo x > T1.txt; ok\n"
			if host.why == "" { // codex has a sandbox of its own
				agent = "bwrap --unshare-user --ro-bind / / true && " + agent
			}
			l := newLab(t, "version: 2\nid: 20260101-hosts\ntitle: Host\ntasks:\n  T1: {title: One, checks: [test -f T1.txt]}\n", agent)
			l.env = append(l.env, "RELAY_SANDBOX=auto", "RELAY_AGENTS_FAKE_SANDBOX_WRITE=~/.fake", "RELAY_ISOLATION=worktree")
			putRelay(t, l.inHome("bin"))
			if strings.Contains(host.within, asUser) {
				give(t, filepath.Dir(filepath.Dir(l.root)), 65534)
			}
			on := func(args ...string) *running {
				r := l.prepared(nil, args...)
				r.cmd.Path, r.cmd.Args = "/bin/sh", append([]string{"sh", "-c", strings.ReplaceAll(host.within, "HOME", l.home), "sh", l.inHome("bin/relay")}, args...)
				l.begin(r)
				l.end(r)
				return r
			}
			check := on("check")
			for _, want := range []string{host.check, host.why, host.mend} {
				check.says(t, want)
			}
			r := on("work")
			r.wants(t, terminal.OK)
			if host.why != "" {
				r.says(t, "note: sandbox: ")
				r.says(t, host.why)
			}
			r = on("work", "--sandbox", "require")
			if strings.HasPrefix(host.check, "none") {
				r.wants(t, 1)
				r.says(t, "relay: hint: "+host.mend)
			} else {
				r.wants(t, terminal.OK)
			}
		})
	}
}

// maskedProc starts a command with a /proc of which parts are covered, as in a container.
const maskedProc = "bwrap --ro-bind / / --dev-bind /dev /dev --bind HOME/../.. HOME/../.. --proc /proc --unshare-pid --cap-add ALL "

const asUser = "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "
