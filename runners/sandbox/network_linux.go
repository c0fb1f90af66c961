package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// listenInside listens on a port in the network of another process. Only a process with one thread may enter the user namespace that the
// network belongs to, so a copy of this process does, which shares its open files. lock keeps others from waiting for that.
func listenInside(lock sync.Locker, pid, port int) (net.Listener, error) {
	network, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return nil, err
	}
	defer network.Close()
	owner, err := unix.IoctlRetInt(int(network.Fd()), unix.NS_GET_USERNS)
	if err != nil {
		return nil, os.NewSyscallError("ioctl", err)
	}
	defer unix.Close(owner)
	socket, err := os.Open(os.DevNull) // the copy replaces it
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	lock.Lock()
	defer lock.Unlock()
	child, errno := fork(uintptr(owner), network.Fd(), socket.Fd())
	if errno != 0 {
		return nil, os.NewSyscallError("clone", errno)
	}
	var status unix.WaitStatus
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		_, err = unix.Wait4(int(child), &status, 0, nil)
	}
	if failed := syscall.Errno(status.ExitStatus()); err == nil && failed != 0 {
		err = failed
	}
	if err == nil {
		err = errors.Join(unix.Bind(int(socket.Fd()), &unix.SockaddrInet4{Port: port}), unix.Listen(int(socket.Fd()), maxConnections))
	}
	if err != nil {
		return nil, fmt.Errorf("listen in the network of the sandbox: %w", err)
	}
	return net.FileListener(socket)
}

// fork returns the pid of a copy of this process that has ended, with an error as its status: place is then a socket in another network.
// The copy only makes system calls, as nothing of Go's runtime works in it.
//
//go:norace
//go:nosplit
func fork(owner, network, place uintptr) (pid uintptr, errno syscall.Errno) {
	pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, unix.CLONE_FILES|unix.CLONE_VFORK|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return pid, errno
	}
	_, _, _ = syscall.RawSyscall(unix.SYS_SETNS, owner, unix.CLONE_NEWUSER, 0) // root is in it already
	_, _, errno = syscall.RawSyscall(unix.SYS_SETNS, network, unix.CLONE_NEWNET, 0)
	socket, _, failed := syscall.RawSyscall(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	_, _, _ = syscall.RawSyscall(unix.SYS_DUP3, socket, place, unix.O_CLOEXEC)
	_, _, _ = syscall.RawSyscall(unix.SYS_CLOSE, socket, 0, 0)
	for {
		_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, uintptr(errno|failed), 0, 0)
	}
}
