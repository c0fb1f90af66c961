package sandbox

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Probe is what starts on this system.
type Probe struct {
	Kind    Kind
	Program []string // bubblewrap and its first arguments
	Why     string   // why bubblewrap does not start, or nothing does
	Mend    string   // the command that mends it; "": relay knows none
	Lacks   []string // what Landlock cannot do here
}

// probeTime is how long a program of a probe may take.
const probeTime = 10 * time.Second

// systemPath ends a path: a program that does nothing is there if the user's path lacks one.
const systemPath = ":/usr/bin:/bin:/run/current-system/sw/bin"

// inside are the first arguments of bubblewrap for root: namespaces of its own, and the rights that it keeps.
var inside = []string{
	"--unshare-pid", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL", "--cap-add", "CAP_DAC_OVERRIDE", "--cap-add", "CAP_CHOWN",
	"--cap-add", "CAP_FOWNER", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_KILL",
	"--cap-add", "CAP_SETFCAP", // for a sandbox of its own inside
}

// Try finds out what starts: bubblewrap, found in the folders of path, else Landlock; on macOS sandbox-exec.
func Try(ctx context.Context, path string) (p Probe) {
	if p.Program = []string{find("sandbox-exec", "/usr/bin")}; runtime.GOOS == "darwin" {
		if _, err := try(ctx, path, &Wall{Kind: Seatbelt, Program: p.Program, Rules: []Rule{{"/", ReadOnly}}}); err == nil {
			p.Kind = Seatbelt
			return p
		}
	}
	program, said := find("bwrap", path), ""
	for _, first := range [][]string{inside, {"--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent"}} {
		p.Program = append([]string{program}, first...)
		wall := Wall{Kind: Bubblewrap, Program: p.Program, Title: Title, Rules: []Rule{{"/", ReadOnly}, {"/tmp", Private}}}
		var err error
		if said, err = try(ctx, path, &wall); err == nil {
			p.Kind = Bubblewrap
			return p
		}
	}
	p.Program = nil
	p.Why, p.Mend = cause(ctx, path, program, said)
	missing, why := tryLandlock(ctx, path)
	if why != "" {
		p.Why += "; " + why
		return p
	}
	p.Kind, p.Lacks = Landlock, missing
	return p
}

// try starts a program that does nothing inside a wall, and returns what it said.
func try(ctx context.Context, path string, w *Wall) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	idle := find("true", path+systemPath)
	program, argv := w.Wrap(idle, []string{idle}, "/")
	cmd := exec.CommandContext(ctx, program)
	cmd.Args, cmd.Dir = argv, "/"
	var said strings.Builder
	cmd.Stderr = &said
	err := w.Enter(cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	return said.String(), err
}

// find returns the program of a name in absolute folders of a path; "" if none has it.
func find(name, path string) string {
	for _, folder := range filepath.SplitList(path) {
		if found, err := exec.LookPath(filepath.Join(folder, name)); err == nil && filepath.IsAbs(folder) {
			return found
		}
	}
	return ""
}

// cause tells why bubblewrap does not start, from what the kernel says without it, and the command that mends it.
func cause(ctx context.Context, path, program, said string) (why, mend string) {
	err := tryNamespace(ctx, path)
	status, _ := os.ReadFile("/proc/self/status")
	switch said, _, _ = strings.Cut(strings.TrimSpace(said), "\n"); {
	case program == "":
		return "bubblewrap is not installed", "sudo apt-get install bubblewrap"
	case sysctl("user/max_user_namespaces") == "0":
		return "user namespaces are off: user.max_user_namespaces is 0", "sudo sysctl user.max_user_namespaces=10000"
	case sysctl("kernel/unprivileged_userns_clone") == "0":
		return "user namespaces are off: kernel.unprivileged_userns_clone is 0", "sudo sysctl kernel.unprivileged_userns_clone=1"
	case sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return "AppArmor restricts user namespaces", "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
	case err != nil && strings.Contains(string(status), "\nSeccomp:\t2"):
		return "a seccomp filter, such as that of a container, refuses namespaces", "docker run --security-opt seccomp=unconfined …"
	case err != nil:
		return "the kernel refuses namespaces: " + err.Error(), ""
	case strings.Contains(said, "proc"):
		return "the container hides parts of /proc: " + said, "docker run --security-opt systempaths=unconfined …"
	}
	return "bubblewrap does not start: " + said, ""
}

// sysctl returns a setting of the kernel; "" if it has none of that name.
func sysctl(name string) string {
	text, _ := os.ReadFile(filepath.Join("/proc/sys", name))
	return strings.TrimSpace(string(text))
}
