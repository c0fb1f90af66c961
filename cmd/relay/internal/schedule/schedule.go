// Package schedule has the system begin relay work at a time of day: with a systemd user timer, launchd or cron.
//
// A night is a shell script of relay's in the user's configuration, which sets the environment of the user's shell without its secrets,
// reads those from a file of the user's, and begins relay work. The timer starts this script. The line of the script that has relay's mark
// describes the night. relay replaces and removes only files with its mark.
package schedule

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/cmd/relay/internal/trust"
	"relay/epic/plaintext"
	"relay/reanchor/git"
	"relay/runners"
)

// texts has the script of a night, the files of the timers by their endings, and the commands by which each form begins and ends.
//
//go:embed texts
var texts embed.FS

// Forms are the ways to have the system begin something.
var Forms = []string{"launchd", "systemd", "cron"}

var forms = map[string]struct {
	program string
	folder  string // of the timer's files, below the home of the user
	files   []string
}{
	"launchd": {"launchctl", "Library/LaunchAgents", []string{"plist"}},
	"systemd": {"systemctl", ".config/systemd/user", []string{"service", "timer"}},
	"cron":    {"crontab", "", nil},
}

// choose returns the form that this machine has, or "".
func choose() string {
	for _, name := range Forms {
		_, err := exec.LookPath(forms[name].program)
		if err == nil && (name != "systemd" || git.Exists("/run/systemd/system")) {
			return name
		}
	}
	return ""
}

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
		return &terminal.UsageError{Message: "unknown night " + terminal.Quote(o.Remove), Hint: "relay schedule --list"}
	}
	n, err := o.night(ctx)
	if err != nil {
		return err
	}
	files, err := n.files()
	if err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintf(o.App.Out, "%s:\n%s\n", f[0], f[1])
	}
	begin, err := n.text(n.Form + ".begin")
	fmt.Fprintf(o.App.Out, "then relay runs:\n%s\n", strings.TrimSpace(begin))
	next, _ := project.Deadline(o.At, o.App.Now())
	fmt.Fprintf(o.App.Out, "\nnext: %s, every day until relay schedule --remove %s\n", next.Format("Mon 2006-01-02 15:04 MST"), n.Name)
	if n.Form == "systemd" && !git.Exists("/var/lib/systemd/linger/"+o.App.Lookup("USER")) {
		fmt.Fprintln(o.App.Out, "systemd stops your timers when you log out; loginctl enable-linger keeps them")
	}
	if err == nil && (o.Yes || o.App.CanAsk() && o.App.Confirm("write it?")) {
		return n.write(ctx, files)
	}
	fmt.Fprintln(o.App.Out, "nothing is written; --yes writes without asking")
	return err
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
		return nil, &terminal.UsageError{
			Message: "--form needs one of " + plaintext.Listed(Forms), Hint: "this machine has " + plaintext.FirstOf(choose(), "none of them"),
		}
	}
	p, err := o.App.Locate(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := trust.Ask(ctx, o.App, p, false); err != nil {
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
	n.Environ, secret = project.ShellEnvironment(p)
	if n.Relay, err = os.Executable(); err == nil {
		n.EnvFile, err = o.envFile(secret)
	}
	for _, args := range tries {
		if err != nil {
			return nil, err
		}
		if printed, failed := n.try(ctx, args); failed != nil {
			said := plaintext.Clean(strings.TrimSpace(printed + failed.Error()))
			err = &terminal.Hinted{
				Err:  fmt.Errorf("the night could not begin: in its environment relay %s fails: %s", strings.Join(args, " "), said),
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
	if errors.Is(err, fs.ErrNotExist) && o.EnvFile == "" {
		return "", nil
	}
	info, wrong := os.Stat(path)
	if err = errors.Join(err, wrong); err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", &terminal.Hinted{Err: fmt.Errorf("%s must be yours alone", path), Hint: "chmod 600 " + plaintext.ShellWord(path)}
	}
	return path, nil
}

// Night is a relay work that begins every day at a time.
type Night struct {
	Name string   `json:"name"`
	Form string   `json:"form"`
	Root string   `json:"root"`
	At   string   `json:"at"`   // HH:MM
	Work []string `json:"work"` // arguments of relay

	Relay   string   `json:"-"` // the program
	Environ []string `json:"-"`
	EnvFile string   `json:"-"` // "": none

	user []string // environment of the user's shell
}

// named returns a night with the name that a repository and what is worked on in it have.
func named(root, key string, user []string) *Night {
	sum := sha256.Sum256([]byte(root + "\x00" + key))
	words := strings.FieldsFunc(fmt.Sprintf("relay %.30s %x", strings.ToLower(filepath.Base(root)), sum[:4]), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return &Night{Name: strings.Join(words, "-"), Root: root, user: user}
}

// Mark returns text that marks the files of the night.
func (n *Night) Mark() string { return "relay schedule " + n.Name }

// folder returns relay's folder in a user's configuration.
func folder(user []string) string { return filepath.Dir(project.UserFile(user)) }

// Script returns the path of the night's script.
func (n *Night) Script() string { return filepath.Join(folder(n.user), "nights", n.Name+".sh") }

// text returns a text of the night. One by which a form begins can use that by which it ends.
func (n *Night) text(name string) (string, error) {
	t, err := template.New("").Funcs(template.FuncMap{
		"word": plaintext.ShellWord, "number": strconv.Atoi,
		"json": func(n *Night) (string, error) { text, err := json.Marshal(n); return string(text), err },
		"unit": strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace,
		"cron": strings.NewReplacer("%", `\%`).Replace,
	}).ParseFS(texts, slices.Compact([]string{"texts/" + strings.Replace(name, "begin", "end", 1), "texts/" + name})...)
	var out bytes.Buffer
	if err == nil {
		err = t.ExecuteTemplate(&out, name, n)
	}
	return out.String(), err
}

// files returns the paths of the night's files with their texts, its script first. It fails where a file without the mark of the night is
// in the way.
func (n *Night) files() (list [][2]string, err error) {
	form := forms[n.Form]
	for _, name := range append([]string{"sh"}, form.files...) {
		path := n.Script()
		if name != "sh" {
			path = filepath.Join(runners.Variable(n.user, "HOME"), form.folder, n.Name+"."+name)
		}
		content, err := os.ReadFile(path)
		if err == nil && !strings.Contains(string(content), n.Mark()) {
			return nil, &terminal.Hinted{Err: fmt.Errorf("%s is not relay's: its mark is missing", path), Hint: "move it away: mv " + plaintext.ShellWord(path) + " ELSEWHERE"}
		}
		text, err := n.text(name)
		if err != nil {
			return nil, err
		}
		list = append(list, [2]string{path, text})
	}
	return list, nil
}

// write writes the files of the night and has the system begin it.
func (n *Night) write(ctx context.Context, files [][2]string) error {
	_, err := exec.LookPath(forms[n.Form].program)
	for _, before := range nights(n.user) {
		if err == nil && before.Name == n.Name && before.Form != n.Form {
			err = before.remove(ctx)
		}
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		if err == nil {
			err = os.MkdirAll(filepath.Dir(f[0]), 0o700)
		}
		if err == nil {
			err = project.ReplacePrivate(f[0], []byte(f[1]))
		}
	}
	if err == nil {
		err = n.run(ctx, n.Form+".begin")
	}
	for _, f := range files {
		if err != nil { // without a timer they would be of no use
			_ = os.Remove(f[0])
		}
	}
	return err
}

// remove has the system forget the night, and removes its files.
func (n *Night) remove(ctx context.Context) error {
	files, err := n.files()
	if err == nil {
		err = n.run(ctx, n.Form+".end")
	}
	for _, f := range slices.Backward(files) { // the script last: --list shows the night until all is done
		if err == nil {
			err = os.RemoveAll(f[0])
		}
	}
	return err
}

// run runs a text in the user's shell.
func (n *Night) run(ctx context.Context, name string) error {
	text, err := n.text(name)
	if err == nil {
		_, err = cli.RunHost(ctx, folder(n.user), n.user, "sh", "-c", text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", forms[n.Form].program, err)
	}
	return nil
}

// try runs a relay command as the night would: with its script, and nothing else of the user's shell.
func (n *Night) try(ctx context.Context, args []string) (string, error) {
	script, err := n.text("sh")
	if err != nil {
		return "", err
	}
	environ := []string{"PATH=/usr/bin:/bin"}
	for _, name := range []string{"HOME", "USER", "LOGNAME", "SHELL"} {
		environ = append(environ, name+"="+runners.Variable(n.user, name))
	}
	return cli.RunHost(ctx, n.Root, environ, "sh", append([]string{"-c", script, n.Name}, args...)...)
}

// marked matches the line of a script that describes its night.
var marked = regexp.MustCompile(`(?m)^# relay schedule \S+ (\{.*\})$`)

// nights returns the nights that a user has, by name.
func nights(user []string) (list []*Night) {
	paths, _ := filepath.Glob(filepath.Join(folder(user), "nights", "*.sh"))
	for _, path := range paths {
		n := &Night{user: user}
		content, err := project.ReadFile(path, project.MaxScript)
		found := marked.FindSubmatch(content)
		if err == nil && found != nil && json.Unmarshal(found[1], n) == nil && n.Script() == path && timeOfDay.MatchString(n.At) {
			list = append(list, n)
		}
	}
	return list
}
