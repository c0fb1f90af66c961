package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"relay/runners/internal/adapter"

	"gopkg.in/yaml.v3"
)

type flood struct {
	Bytes int64
	Line  int64 // bytes of each line; 0: one line without an end
	To    string
}

// carryOut does one step. An *endError ends the session as the script wants it.
func (a *scriptedAgent) carryOut(ctx context.Context, st step) error {
	text := st.args.Value
	switch st.name {
	case "expect", "reject":
		if strings.Contains(a.prompt, text) != (st.name == "expect") {
			return &endError{code: exitUnexpected, message: fmt.Sprintf("line %d: %s %q: not so", st.line, st.name, text)}
		}
		return nil
	case "write", "append", "edit", "delete", "commit":
		return a.change(ctx, st)
	case "run", "daemon", "stray":
		return a.start(ctx, st)
	case "sleep", "hang":
		return a.wait(ctx, st)
	case "exit":
		var code int
		err := st.args.Decode(&code)
		return errors.Join(err, &endError{code: code})
	case "fail":
		return &endError{code: 1, message: text}
	case "signal":
		return signalSelf(text)
	}
	return a.say(st)
}

func (a *scriptedAgent) change(ctx context.Context, st step) error {
	var f struct{ Path, Text, Old, New string }
	if st.args.Kind == yaml.MappingNode {
		if err := st.args.Decode(&f); err != nil {
			return err
		}
	}
	switch st.name {
	case "write":
		return a.writeFile(f.Path, f.Text, os.O_TRUNC)
	case "append":
		return a.writeFile(f.Path, f.Text, os.O_APPEND)
	case "edit":
		return a.edit(f.Path, f.Old, f.New)
	case "delete":
		return os.RemoveAll(a.path(st.args.Value))
	}
	if err := a.command(ctx, "git", "add", "-A"); err != nil {
		return err
	}
	return a.command(ctx, "git", "-c", "user.name=Scripted Agent", "-c", "user.email=agent@relay.invalid",
		"-c", "commit.gpgsign=false", "commit", "-q", "--no-verify", "-m", st.args.Value)
}

func (a *scriptedAgent) start(ctx context.Context, st step) error {
	var argv []string
	if err := st.args.Decode(&argv); err != nil {
		return err
	}
	if st.name == "run" {
		return a.command(ctx, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = a.Dir, a.Environ
	if st.name == "stray" {
		cmd.Env = []string{"PATH=" + a.getenv("PATH")}
	}
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

func (a *scriptedAgent) wait(ctx context.Context, st step) error {
	long := 24 * time.Hour
	stop := ctx.Done()
	if st.name == "sleep" {
		var err error
		if long, err = time.ParseDuration(st.args.Value); err != nil {
			return err
		}
	} else if st.args.Value == "stubborn" {
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
		stop = nil
	}
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-stop:
		return &endError{code: 143, message: "stopped"}
	}
}

func (a *scriptedAgent) say(st step) error {
	var err error
	switch st.name {
	case "print":
		_, err = fmt.Fprintln(a.Stdout, st.args.Value)
	case "stderr":
		_, err = fmt.Fprintln(a.Stderr, st.args.Value)
	case "flood":
		err = a.flood(st)
	case "claim":
		path := a.getenv(adapter.EnvResult)
		if path == "" {
			return errors.New(adapter.EnvResult + " is not set")
		}
		var data []byte
		if data, err = claimBytes(st.args); err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
	case "fence":
		var data []byte
		if data, err = claimBytes(st.args); err == nil {
			_, err = fmt.Fprintf(a.Stdout, "```%s\n%s\n```\n", adapter.FenceName, bytes.TrimSpace(data))
		}
	}
	return err
}

func (a *scriptedAgent) flood(st step) error {
	var f flood
	if err := st.args.Decode(&f); err != nil {
		return err
	}
	to := a.Stdout
	if f.To == "stderr" {
		to = a.Stderr
	}
	w := bufio.NewWriterSize(to, 1<<20)
	line := strings.Repeat("x", 64<<10)
	if f.Line > 0 {
		line = strings.Repeat("x", int(f.Line-1)) + "\n"
	}
	for left := f.Bytes; left > 0; left -= int64(len(line)) {
		if _, err := io.WriteString(w, line[:min(int64(len(line)), left)]); err != nil {
			return err
		}
	}
	return w.Flush()
}

// claimBytes returns a text as it is, and a mapping as JSON.
func claimBytes(n *yaml.Node) ([]byte, error) {
	if n.Kind == yaml.ScalarNode {
		return []byte(n.Value), nil
	}
	var v map[string]any
	if err := n.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
