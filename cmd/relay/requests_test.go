package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// askRaw sends a request to the socket of the run in the current folder, and prints its reply: ask REQUEST. With listen it takes requests
// in the run's place.
func askRaw() {
	const link = ".agents-os/relay/requests"
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if os.Args[1] == "listen" {
		dir, err := os.MkdirTemp("", "")
		fail(err)
		at := filepath.Join(dir, "s")
		l, err := net.Listen("unix", at)
		fail(err)
		fail(os.Remove(link))
		fail(os.Symlink(at, link))
		fail(os.WriteFile("home/listens", []byte("yes"), 0o600))
		conn, err := l.Accept()
		fail(err)
		_, _ = fmt.Fprintln(conn, `{"message": "done"}`) // the asker may be gone
		return
	}
	at, err := os.Readlink(link)
	fail(err)
	conn, err := net.Dial("unix", at)
	fail(err)
	_, err = fmt.Fprintln(conn, os.Args[1])
	fail(err)
	fail(conn.(*net.UnixConn).CloseWrite())
	reply, err := bufio.NewReader(conn).ReadString('\n')
	fmt.Print(reply)
	fail(err)
}
