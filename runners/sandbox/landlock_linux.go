package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock. Landlock refuses to read or write a file unless a rule allows it. A process may list any folder.
const (
	readRights  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fileRights  = readRights&^unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	writeRights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	handled = readRights | writeRights | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// kept are the rights that root keeps, as in bubblewrap: those about files, users and signals.
var kept = []int{unix.CAP_DAC_OVERRIDE, unix.CAP_CHOWN, unix.CAP_FOWNER, unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_KILL, unix.CAP_SETFCAP}

// devices are the files below /dev that every process may write.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"}

// Types of rules.
const (
	beneath = unix.LANDLOCK_RULE_PATH_BENEATH
	netPort = 2
)

// Versions of Landlock that brought what relay uses: moves between folders, bars to emptying files, to the network, and to signals.
const landlockMoves, landlockTruncate, landlockNetwork, landlockSignals = 2, 3, 4, 6

// landlockVersion returns the version of Landlock that the kernel has, or an error.
func landlockVersion() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(version), nil
}

// restricted calls do on a thread that Landlock holds to the rules. The thread ends with it: its children inherit the restriction, the
// rest of this process does not.
func restricted(w *Wall, do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // without an unlock, the thread ends with the goroutine
		err := restrict(w)
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}

// restrict restricts the calling thread for good.
func restrict(w *Wall) error {
	version, err := landlockVersion()
	if err != nil {
		return fmt.Errorf("Landlock: %w", err) //nolint:staticcheck // a name
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled}
	size := unsafe.Offsetof(attr.Scoped)
	if w.Alone {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version < landlockNetwork {
		size = unsafe.Offsetof(attr.Handled_access_net)
	}
	if version < landlockTruncate {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= landlockSignals {
		attr.Scoped, size = unix.LANDLOCK_SCOPE_SIGNAL|unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, unsafe.Offsetof(attr.Quiet_access_fs)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("create a ruleset of Landlock: %w", errno)
	}
	defer unix.Close(int(fd))
	g := granter{ruleset: int(fd), handled: attr.Handled_access_fs, modes: map[string]Mode{}, above: map[string]bool{}}
	g.allow("/", unix.LANDLOCK_ACCESS_FS_READ_DIR)
	for _, r := range w.Rules {
		g.modes[r.Path] = r.Mode
		for path := r.Path; path != "/"; g.above[path] = true {
			path = filepath.Dir(path)
		}
	}
	g.grant("/", Hidden)
	for _, port := range w.Ports {
		rule := [2]uint64{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port)}
		_, _, _ = unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, fd, netPort, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	}
	for _, path := range devices {
		g.allow(path, readRights|fileRights)
	}
	for right := uintptr(0); right <= unix.CAP_LAST_CAP; right++ { // root would read the environment of any process
		if !slices.Contains(kept, int(right)) {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0) // only root can, and only root needs to
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("enter a ruleset of Landlock: %w", errno)
	}
	return nil
}

// granter adds rules to a ruleset of Landlock. A right for a folder holds for all that is in it, so a folder with rules of its own below
// gets none: each of its entries does.
type granter struct {
	ruleset int
	handled uint64
	modes   map[string]Mode
	above   map[string]bool // folders with a rule below them
}

// grant gives the rights of a path and all below it; mode is that of the folder above.
func (g *granter) grant(path string, mode Mode) {
	if own, ok := g.modes[path]; ok {
		mode = own
	}
	if !g.above[path] {
		g.allow(path, map[Mode]uint64{ReadOnly: readRights, Writable: readRights | writeRights, Private: readRights | writeRights}[mode])
		return
	}
	if mode == Private {
		mode = Hidden // what others have in it
	}
	entries, err := os.ReadDir(path)
	for below := range g.modes { // of a folder that cannot be listed, only what has a rule is known
		if err != nil && strings.HasPrefix(below, path+"/") {
			g.grant(below, mode)
		}
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			g.grant(filepath.Join(path, e.Name()), mode)
		}
	}
}

// allow adds a rule. A path that is gone needs none, and without rights nothing is added.
func (g *granter) allow(path string, rights uint64) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) == nil && stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & g.handled, Parent_fd: int32(fd)}
	_, _, _ = unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(g.ruleset), beneath, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
}
