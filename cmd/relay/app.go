package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"relay/orchestrator/secrets"
)

// app is what commands need of the world: streams, environment, clock, and the folder the user is in.
type app struct {
	in      io.Reader
	out     *scrubber // answers; everything that comes out of it is harmless for a terminal
	err     *scrubber // progress and messages
	environ []string
	secrets *secrets.Redactor // of what users see and hosts get
	dir     string            // value of -C; "" : the working directory
	now     func() time.Time
}

func newApp() *app {
	a := &app{
		in: os.Stdin, out: newScrubber(os.Stdout), err: newScrubber(os.Stderr),
		environ: os.Environ(), now: time.Now,
	}
	a.secrets = secrets.New(a.environ)
	a.out.blank, a.err.blank = a.secrets.Values, a.secrets.Values
	return a
}

// lookup returns the value of an environment variable, or "".
func (a *app) lookup(name string) string {
	for i := len(a.environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(a.environ[i], name+"="); ok {
			return value
		}
	}
	return ""
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
		return "", &hinted{err: fmt.Errorf("there is no folder %s", dir), hint: "-C names the folder to work in: relay -C DIR status"}
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", &hinted{err: fmt.Errorf("%s is not a folder", a.dir), hint: "-C names the folder to work in: relay -C DIR status"}
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

// isTerminal reports whether a person sees what is written to w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns is the width of the terminal behind w, or 80.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}
