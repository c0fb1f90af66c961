package sandbox

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Probe is what starts on this system.
type Probe struct {
	Kind    Kind
	Program []string // bubblewrap and its first arguments
	Bounds  bool     // it can bound the size of a folder in memory: since 0.7
	Why     string   // why bubblewrap does not start, or nothing does
	Mend    string   // the command that mends it; "": relay knows none
	Lacks   []string // what Landlock cannot do here
}

// probeTime is how long a program of a probe may take.
const probeTime = 10 * time.Second

// systemPath ends a path: a program that does nothing is there if the user's path lacks one.
const systemPath = ":/usr/bin:/bin:/run/current-system/sw/bin"

// ways returns the first arguments of bubblewrap to try: namespaces of its own, and the rights that root keeps. In a container root needs a
// namespace of users, in which it would keep all rights.
func ways() [][]string {
	own := []string{"--unshare-pid", "--unshare-ipc", "--die-with-parent"}
	if os.Getuid() != 0 { // with a right, no sandbox of its own would start inside
		return [][]string{append(own, "--unshare-user")}
	}
	own = append(own, "--cap-drop", "ALL")
	for _, right := range []string{
		"DAC_OVERRIDE", "CHOWN", "FOWNER", "SETUID", "SETGID", "KILL", "SETFCAP", // the last for a sandbox of its own inside
	} {
		own = append(own, "--cap-add", "CAP_"+right)
	}
	return [][]string{own, append(slices.Clone(own), "--unshare-user")}
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
	all := ways()
	for i, first := range append(all, all...) {
		p.Program, p.Bounds = append([]string{program}, first...), i < len(all)
		wall := Wall{Kind: Bubblewrap, Program: p.Program, Bounds: p.Bounds, Title: Title, Rules: []Rule{{"/", ReadOnly}, {"/tmp", Private}}}
		var err error
		if said, err = try(ctx, path, &wall); err == nil {
			p.Kind = Bubblewrap
			return p
		}
	}
	p.Program, p.Bounds = nil, false
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
