package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/secrets"
)

// app is what commands need of the world: streams, environment, clock, and the folder the user is in.
type app struct {
	in      io.Reader
	out     *terminal.Writer // answers; everything that comes out of it is harmless for a terminal
	err     *terminal.Writer // progress and messages
	environ []string
	secrets *secrets.Redactor // of what users see and hosts get
	dir     string            // value of -C; "" : the working directory
	now     func() time.Time
}

func newApp() *app {
	a := &app{
		in: os.Stdin, out: terminal.NewWriter(os.Stdout), err: terminal.NewWriter(os.Stderr),
		environ: os.Environ(), now: time.Now,
	}
	a.secrets = secrets.New(a.environ)
	a.out.Redact, a.err.Redact = a.secrets.Values, a.secrets.Values
	return a
}

// lookup returns the value of an environment variable, or "".
func (a *app) lookup(name string) string {
	return project.Lookup(a.environ, name)
}

// folder is where the user is, absolute.
func (a *app) folder() (string, error) {
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &exit.Hinted{Err: fmt.Errorf("there is no folder %s", dir), Hint: "-C names the folder to work in: relay -C DIR status"}
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", &exit.Hinted{Err: fmt.Errorf("%s is not a folder", a.dir), Hint: "-C names the folder to work in: relay -C DIR status"}
	}
	return dir, nil
}

// path takes a path as the user wrote it, which -C makes relative to another folder.
func (a *app) path(written string) string {
	if filepath.IsAbs(written) || a.dir == "" {
		return written
	}
	return filepath.Join(a.dir, written)
}

// printJSON writes one value as the whole answer.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
