package schedule

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
)

// Options are what the user wants of a night.
type Options struct {
	App                             *cli.App
	At, Until                       string // HH:MM
	Form, EnvFile, Playlist, Remove string
	Yes, List                       bool
	Work                            []string // more arguments of relay work
}

// Run lists the nights, removes one, or shows a new one and writes it when the user agrees.
func Run(ctx context.Context, o Options) error {
	h := &Host{Environ: o.App.Environ, Home: o.App.Lookup("HOME"), Config: filepath.Dir(project.UserFile(o.App.Environ))}
	switch nights := h.List(); {
	case o.List:
		for _, n := range nights {
			fmt.Fprintf(o.App.Out, "%s  %s  %s  %s: relay %s\n", n.Name, n.At, n.Form, n.Root, strings.Join(n.Work, " "))
		}
		return nil
	case o.Remove != "":
		for _, n := range nights {
			if n.Name == o.Remove {
				return n.Remove(ctx)
			}
		}
		return &terminal.UsageError{Message: "there is no night " + terminal.Quote(o.Remove), Hint: "relay schedule --list"}
	}
	n, err := o.night(ctx, h)
	if err != nil {
		return err
	}
	shown, err := n.Shown()
	if err != nil {
		return err
	}
	fmt.Fprint(o.App.Out, shown)
	next, _ := project.Deadline(o.At, o.App.Now())
	fmt.Fprintf(o.App.Out, "\nnext: %s, every day until relay schedule --remove %s\n", next.Format("Mon 2006-01-02 15:04 MST"), n.Name)
	if n.Form == "systemd" && !project.Exists("/var/lib/systemd/linger/"+o.App.Lookup("USER")) {
		fmt.Fprintln(o.App.Out, "systemd ends your timers when you log out: loginctl enable-linger")
	}
	switch {
	case o.Yes || o.App.CanAsk() && o.App.Confirm("write it?"):
		return n.Write(ctx)
	case !o.App.CanAsk():
		fmt.Fprintln(o.App.Out, "nothing is written without --yes")
	}
	return nil
}

// night returns the night that the user wants. It fails when relay work could not begin in it.
func (o *Options) night(ctx context.Context, h *Host) (*Night, error) {
	for _, at := range []string{o.At, o.Until} {
		if !timeOfDay.MatchString(at) {
			return nil, &terminal.UsageError{Message: "a night needs two times of day, not " + terminal.Quote(at), Hint: "relay schedule --at 22:00 --until 07:00"}
		}
	}
	if o.Form = plaintext.FirstOf(o.Form, Choose()); !slices.Contains(Forms, o.Form) {
		return nil, &terminal.UsageError{Message: "there is no form " + terminal.Quote(o.Form), Hint: "--form " + strings.Join(Forms, ", --form ")}
	}
	p, err := o.App.Locate(ctx, nil)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(p.Root+h.Home, "\n\r") {
		return nil, errors.New("a night needs a folder without a newline in its name")
	}
	work := append([]string{"work", "--from", o.At, "--until", o.Until}, o.Work...)
	tries, key := [][]string{{"check"}, append(slices.Clone(work), "--dry-run")}, o.App.Epic
	switch {
	case o.Playlist != "":
		if key, err = filepath.Abs(o.App.Path(o.Playlist)); err != nil {
			return nil, err
		}
		work, tries = append(work, "--playlist", key), [][]string{{"status", "--playlist", key}}
	case key != "":
		for i := range tries {
			tries[i] = append(tries[i], "--epic", key)
		}
		work = append(work, "--epic", key)
	}
	n := h.New(p.Root, o.At, key, work)
	n.Form = o.Form
	if n.Relay, err = os.Executable(); err != nil {
		return nil, err
	}
	var secret []string
	n.Environ, secret = p.ShellEnvironment()
	if n.EnvFile, err = o.envFile(h); err == nil {
		warnMissing(o.App, h, n.EnvFile, secret)
		err = n.try(ctx, tries)
	}
	return n, err
}

// timeOfDay matches a time as timers have it.
var timeOfDay = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)

// try runs relay commands as the night would, and fails for the first that fails.
func (n *Night) try(ctx context.Context, commands [][]string) error {
	for _, args := range commands {
		if printed, err := n.Try(ctx, args...); err != nil {
			said := plaintext.Clean(strings.TrimSpace(printed))
			if host, ok := errors.AsType[*cli.HostError](err); ok {
				said = strings.TrimSpace(said + "\n" + plaintext.Clean(host.Said))
			}
			return &terminal.Hinted{
				Err:  fmt.Errorf("the night could not begin: with nothing of your shell but what the script sets, relay %s fails:\n%s", strings.Join(args, " "), said),
				Hint: "mend that, and type the same again; --env-file FILE gives the night NAME=value lines that only you can read",
			}
		}
	}
	return nil
}

// envFile returns the file with the secrets of the night: the one that the user names, or the usual one if it is there. It fails when
// others can read or replace it.
func (o *Options) envFile(h *Host) (string, error) {
	path, err := filepath.Abs(o.App.Path(plaintext.FirstOf(o.EnvFile, filepath.Join(h.Config, "night.env"))))
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && o.EnvFile == "" {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); info.Mode().Perm()&0o077 != 0 || ok && int(owner.Uid) != os.Getuid() {
		return "", &terminal.Hinted{Err: fmt.Errorf("%s must be yours alone", path), Hint: "chmod 600 " + plaintext.ShellWord(path)}
	}
	return path, nil
}

// warnMissing names the secrets of the shell that a file with those of the night lacks.
func warnMissing(a *cli.App, h *Host, path string, secret []string) {
	content, _ := os.ReadFile(path) // it was looked at; "" is none
	var names []string
	for _, entry := range secret {
		name, _, _ := strings.Cut(entry, "=")
		if !regexp.MustCompile(`(?m)^\s*(export )?` + regexp.QuoteMeta(name) + `=`).Match(content) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		a.Warn(fmt.Sprintf("the night lacks %s of your shell: write NAME=value lines into %s, with chmod 600",
			plaintext.Some(names, 10), plaintext.FirstOf(path, filepath.Join(h.Config, "night.env"))))
	}
}
