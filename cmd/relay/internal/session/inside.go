package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/terminal"
	"relay/runners/sandbox"
)

// Inside is the request of a process in the sandbox, which cannot see relay's folder: that its run carries out a command for it.
const Inside attempts.RequestKind = "inside"

// maxAnswer bounds what a command prints for a process in the sandbox, in bytes.
const maxAnswer = 64 << 20

// readingFlags are those of commands for agents. Others name files, which the run would read, or never end.
var readingFlags = []string{
	"--json", "--short", "--verbose", "-v", "--all", "-a", "--schema",
	"--attempt", "--brief", "--diff", "--checks", "--log", "--review", "--tail", "--last",
}

// ForAgents reports whether a process in the sandbox may have its run carry out a command: it only reads, or is about discussions.
func ForAgents(args []string) bool {
	if len(args) == 0 || args[0] == "discuss" || args[0] == "sessions" && (len(args) < 2 || args[1] != "search") {
		return len(args) == 2 // the action of a discussion
	}
	options, _, _ := strings.Cut(strings.Join(args[1:], "\x00")+"\x00", "--\x00")
	return slices.Contains([]string{"status", "show", "logs", "sessions"}, args[0]) &&
		!slices.ContainsFunc(strings.Split(options, "\x00"), func(arg string) bool {
			name, _, _ := strings.Cut(arg, "=")
			return strings.HasPrefix(arg, "-") && !slices.Contains(readingFlags, name)
		})
}

// AskInside has the run at a socket carry out a command. The error has the run's words.
func AskInside(ctx context.Context, socket string, args []string, input []byte) (answer, warnings string, err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = conn.Close() }()
	r, err := exchange(conn, Request{What: Inside, Args: args, Input: input}, maxAnswer)
	if err == nil && r.Error != "" {
		err = errors.New(r.Error)
	}
	return r.Message, r.Warnings, err
}

// carryOutInside carries out a command for a process of the attempt that a mark names, one at a time.
func (r *receiver) carryOutInside(ctx context.Context, q Request, mark string) (answer, warnings string, err error) {
	if mark == "" || !ForAgents(q.Args) || r.inside == nil {
		return "", "", errors.New("error: that is not for processes in the sandbox of a run")
	}
	r.alone.Lock()
	defer r.alone.Unlock()
	ctx, cancel := context.WithTimeout(ctx, replyWait)
	defer cancel()
	return r.inside(ctx, r.project, mark, q.Args, q.Input)
}

// SocketOfRun returns the socket of the run that has started this process in a sandbox, if both are of the same repository; else "".
func SocketOfRun(ctx context.Context, a *cli.App) string {
	socket := a.Lookup(sandbox.SocketVariable)
	if socket == "" {
		return ""
	}
	p, err := a.Repository(ctx)
	if err != nil {
		return ""
	}
	if _, inside := cli.CheckoutOfRun(ctx, a, p); !inside {
		return ""
	}
	return socket
}

// Forward has the run carry out a command that a process in its sandbox was given; done is false if the command is carried out here.
func Forward(ctx context.Context, a *cli.App, args []string) (code int, done bool) {
	socket := a.Lookup(sandbox.SocketVariable)
	if socket == "" || !ForAgents(args) || args[0] == "discuss" || SocketOfRun(ctx, a) == "" {
		return 0, false
	}
	answer, _, err := AskInside(ctx, socket, args, nil)
	if err != nil {
		fmt.Fprintln(a.Err, "relay: "+strings.ReplaceAll(err.Error(), "\n", "\nrelay: "))
		return terminal.Failure, true
	}
	fmt.Fprint(a.Out, answer)
	return a.ReportError(a.Out.Failure()), true
}
