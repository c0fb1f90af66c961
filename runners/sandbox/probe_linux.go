package sandbox

import (
	"context"
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// tryNamespace starts a program that does nothing in a user namespace, without bubblewrap.
func tryNamespace(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, find("true", path+systemPath))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	return cmd.Run()
}

// tryLandlock says what Landlock lacks here, or why it does not start.
func tryLandlock(ctx context.Context, path string) (lacks []string, why string) {
	version, err := landlockVersion()
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return nil, "Landlock is off: the kernel's parameter lsm= does not name it"
	case errors.Is(err, unix.ENOSYS):
		return nil, "the kernel has no Landlock: it is older than 5.13, or a filter refuses it"
	case err != nil:
		return nil, "Landlock does not start: " + err.Error()
	case version < landlockMoves:
		return nil, "the kernel's Landlock is too old: git cannot work in it before Linux 5.19"
	}
	if _, err := try(ctx, path, &Wall{Kind: Landlock, Rules: []Rule{{"/", ReadOnly}}}); err != nil {
		return nil, "Landlock does not start: " + err.Error()
	}
	lacks = []string{"a /tmp, processes and a network of its own"}
	if version < landlockTruncate {
		lacks = append(lacks, "a bar to emptying files")
	}
	if version < landlockNetwork {
		lacks = append(lacks, "a bar to connections")
	}
	if version < landlockSignals {
		lacks = append(lacks, "a bar to signals")
	}
	return lacks, ""
}
