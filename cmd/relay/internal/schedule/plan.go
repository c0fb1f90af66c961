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
	for _, n := range nights(o.App.Environ) {
		if o.List {
			fmt.Fprintf(o.App.Out, "%s  %s  %s  %s: relay %s\n", n.Name, n.At, n.Form, n.Root, strings.Join(n.Work, " "))
		} else if n.Name == o.Remove {
			return n.remove(ctx)
		}
	}
	switch {
	case o.List:
		return nil
	case o.Remove != "":
		return &terminal.UsageError{Message: "there is no night " + terminal.Quote(o.Remove), Hint: "relay schedule --list"}
	}
	n, err := o.night(ctx)
	if err != nil {
		return err
	}
	shown, err := n.shown()
	if err != nil {
		return err
	}
	next, _ := project.Deadline(o.At, o.App.Now())
	fmt.Fprintf(o.App.Out, "%s\nnext: %s, every day until relay schedule --remove %s\n", shown, next.Format("Mon 2006-01-02 15:04 MST"), n.Name)
	if n.Form == "systemd" && !project.Exists("/var/lib/systemd/linger/"+o.App.Lookup("USER")) {
		fmt.Fprintln(o.App.Out, "systemd ends your timers when you log out: loginctl enable-linger")
	}
	if o.Yes || o.App.CanAsk() && o.App.Confirm("write it?") {
		return n.write(ctx)
	}
	fmt.Fprintln(o.App.Out, "nothing is written; --yes writes without asking")
	return nil
}

// night returns the night that the user wants. It fails when relay work could not begin in it.
func (o *Options) night(ctx context.Context) (*Night, error) {
	for _, at := range []string{o.At, o.Until} {
		if !timeOfDay.MatchString(at) {
			return nil, &terminal.UsageError{Message: "a night needs two times of day, not " + terminal.Quote(at), Hint: "relay schedule --at 22:00 --until 07:00"}
		}
	}
	form := plaintext.FirstOf(o.Form, choose())
	if !slices.Contains(Forms, form) {
		return nil, &terminal.UsageError{Message: "there is no form " + terminal.Quote(form), Hint: "--form " + strings.Join(Forms, ", --form ")}
	}
	p, err := o.App.Locate(ctx, nil)
	if err != nil {
		return nil, err
	}
	work := append([]string{"work", "--from", o.At, "--until", o.Until}, o.Work...)
	var about []string
	if o.App.Epic != "" {
		about = []string{"--epic", o.App.Epic}
	}
	tries := [][]string{append([]string{"check"}, about...), slices.Concat(work, about, []string{"--dry-run"})}
	if o.Playlist != "" {
		list, err := filepath.Abs(o.App.Path(o.Playlist))
		if err != nil {
			return nil, err
		}
		about = []string{"--playlist", list}
		tries = [][]string{append([]string{"status"}, about...)}
	}
	n := named(p.Root, strings.Join(about, " "), o.App.Environ)
	n.Form, n.At, n.Work = form, o.At, append(work, about...)
	var secret []string
	n.Environ, secret = p.ShellEnvironment()
	if n.Relay, err = os.Executable(); err == nil {
		n.EnvFile, err = o.envFile(secret)
	}
	for _, args := range tries {
		if err != nil {
			return nil, err
		}
		if printed, failed := n.try(ctx, args); failed != nil {
			err = &terminal.Hinted{
				Err: fmt.Errorf("the night could not begin: in its environment relay %s fails: %s",
					strings.Join(args, " "), plaintext.Clean(strings.TrimSpace(printed+failed.Error()))),
				Hint: "mend that, and type the same again",
			}
		}
	}
	return n, err
}

// timeOfDay matches a time as timers have it.
var timeOfDay = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)

// envFile returns the file with the secrets of the night: the one that the user names, or the usual one if it is there. It warns of
// secrets of the shell that the file lacks, and fails when others can read or replace it.
func (o *Options) envFile(secret []string) (string, error) {
	path, err := filepath.Abs(o.App.Path(plaintext.FirstOf(o.EnvFile, filepath.Join(folder(o.App.Environ), "night.env"))))
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(path)
	missing := errors.Is(err, fs.ErrNotExist) && o.EnvFile == ""
	if err != nil && !missing {
		return "", err
	}
	var lacks []string
	for _, entry := range secret {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.Contains("\n"+strings.ReplaceAll(string(content), "export ", ""), "\n"+name+"=") {
			lacks = append(lacks, name)
		}
	}
	if len(lacks) > 0 {
		o.App.Warn(fmt.Sprintf("the night lacks %s of your shell: write NAME=value lines into %s, with chmod 600", plaintext.Some(lacks, 10), path))
	}
	if missing {
		return "", nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); info.Mode().Perm()&0o077 != 0 || ok && int(owner.Uid) != os.Getuid() {
		return "", &terminal.Hinted{Err: fmt.Errorf("%s must be yours alone", path), Hint: "chmod 600 " + plaintext.ShellWord(path)}
	}
	return path, nil
}
