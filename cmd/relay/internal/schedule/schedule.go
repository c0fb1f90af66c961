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
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
)

//go:embed texts
var texts embed.FS

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

	host *Host
}

// Host is what nights need of the user's session.
type Host struct {
	Environ []string
	Home    string
	Config  string // relay's folder in the user's configuration
}

// file is one that a night consists of.
type file struct{ path, text string }

// form is a way to have the system begin something.
type form struct {
	program    string
	files      [][2]string // name below texts, path below the home of the user
	begin, end [][]string  // commands
}

// Forms are the names of the forms.
var Forms = []string{"systemd", "launchd", "cron"}

var forms = map[string]form{
	"systemd": {
		"systemctl",
		[][2]string{{"service", ".config/systemd/user/NAME.service"}, {"timer", ".config/systemd/user/NAME.timer"}},
		[][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", "NAME.timer"}, {"systemctl", "--user", "restart", "NAME.timer"}},
		[][]string{{"systemctl", "--user", "disable", "--now", "NAME.timer"}},
	},
	"launchd": {
		"launchctl", [][2]string{{"plist", "Library/LaunchAgents/NAME.plist"}},
		[][]string{{"launchctl", "bootstrap", "gui/UID", "HOME/Library/LaunchAgents/NAME.plist"}},
		[][]string{{"launchctl", "bootout", "gui/UID/NAME"}},
	},
	"cron": {"crontab", nil, [][]string{{"sh", "-c", "CRONTAB", "crontab", "MARK", "LINE"}}, [][]string{{"sh", "-c", "CRONTAB", "crontab", "MARK", ""}}},
}

// Choose returns the form that this machine has, or "".
func Choose() string {
	_, err := exec.LookPath("crontab")
	switch {
	case runtime.GOOS == "darwin":
		return "launchd"
	case project.Exists("/run/systemd/system"):
		return "systemd"
	case err == nil:
		return "cron"
	}
	return ""
}

// New returns the night of a repository that begins relay with arguments; a later one with the same arguments but for times replaces it.
func (h *Host) New(root, at, key string, work []string) *Night {
	sum := sha256.Sum256([]byte(root + "\x00" + key))
	slug := strings.FieldsFunc(fmt.Sprintf("relay %.30s %x", strings.ToLower(filepath.Base(root)), sum[:4]), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return &Night{Name: strings.Join(slug, "-"), Root: root, At: at, Work: work, host: h}
}

// Mark returns text that marks the files of the night.
func (n *Night) Mark() string { return "relay schedule " + n.Name }

// JSON returns the night in one line.
func (n *Night) JSON() (string, error) {
	content, err := json.Marshal(n)
	return string(content), err
}

// Script and Log return the files of the night that all forms have.
func (n *Night) Script() string { return filepath.Join(n.host.Config, "nights", n.Name+".sh") }

// Log returns the file that relay work writes to.
func (n *Night) Log() string { return strings.TrimSuffix(n.Script(), "sh") + "log" }

// Hour and Minute return parts of the time.
func (n *Night) Hour() (int, error) { return strconv.Atoi(n.At[:2]) }

// Minute returns the minute of the time.
func (n *Night) Minute() (int, error) { return strconv.Atoi(n.At[3:]) }

// text returns a text of the night.
func (n *Night) text(name string) (string, error) {
	t, err := template.New(name).Funcs(template.FuncMap{
		"word": plaintext.ShellWord,
		"unit": strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace,
		"cron": strings.NewReplacer("%", `\%`).Replace,
	}).ParseFS(texts, "texts/"+name)
	var out bytes.Buffer
	if err == nil {
		err = t.Execute(&out, n)
	}
	return out.String(), err
}

// files returns the files of the night, its script first.
func (n *Night) files() ([]file, error) {
	script, err := n.text("night.sh")
	list := []file{{n.Script(), script}}
	for _, f := range forms[n.Form].files {
		text, wrong := n.text(f[0])
		list = append(list, file{filepath.Join(n.host.Home, n.fill(f[1])), text})
		err = errors.Join(err, wrong)
	}
	return list, err
}

// fill replaces the words in capitals of an argument of a form.
func (n *Night) fill(argument string) string {
	line, _ := n.text("cron")
	crontab, _ := texts.ReadFile("texts/crontab.sh")
	return strings.NewReplacer("NAME", n.Name, "UID", strconv.Itoa(os.Getuid()), "HOME", n.host.Home, "CRONTAB", string(crontab),
		"MARK", n.Mark(), "LINE", strings.TrimSpace(line)).Replace(argument)
}

// Shown returns the files and the commands of the night as a person reads them.
func (n *Night) Shown() (string, error) {
	list, err := n.files()
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%s:\n%s\n", f.path, f.text)
	}
	for _, argv := range forms[n.Form].begin {
		if n.Form == "cron" {
			fmt.Fprintf(&b, "crontab:\n%s\n", n.fill("LINE"))
		} else {
			fmt.Fprintln(&b, n.fill(strings.Join(argv, " ")))
		}
	}
	return b.String(), err
}

// Write writes the files of the night and has the system begin it. It fails where another program's file is in the way.
func (n *Night) Write(ctx context.Context) error {
	list, err := n.files()
	if err == nil {
		_, err = exec.LookPath(forms[n.Form].program)
	}
	for _, f := range list {
		err = errors.Join(err, n.own(f.path))
	}
	if err != nil {
		return err
	}
	for _, f := range list {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
			return err
		}
		if err := project.ReplacePrivate(f.path, []byte(f.text)); err != nil {
			return err
		}
	}
	if n.Form == "launchd" { // it refuses a second one
		_ = n.run(ctx, forms[n.Form].end)
	}
	return n.run(ctx, forms[n.Form].begin)
}

// Remove has the system forget the night, and removes its files.
func (n *Night) Remove(ctx context.Context) error {
	list, err := n.files()
	for _, f := range list {
		err = errors.Join(err, n.own(f.path))
	}
	if err == nil {
		err = n.run(ctx, forms[n.Form].end)
	}
	for _, f := range slices.Backward(list) { // the script last: --list shows the night until all is done
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.Remove(f.path)
		}
	}
	return err
}

// own fails for a file that lacks the mark of the night.
func (n *Night) own(path string) error {
	content, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(content), n.Mark()) {
		return &terminal.Hinted{Err: fmt.Errorf("%s is not relay's: its mark is missing", path), Hint: "move it away: mv " + plaintext.ShellWord(path) + " ELSEWHERE"}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (n *Night) run(ctx context.Context, commands [][]string) error {
	for _, argv := range commands {
		argv = slices.Clone(argv)
		for i := range argv {
			argv[i] = n.fill(argv[i])
		}
		if _, err := cli.RunHost(ctx, n.host.Home, n.host.Environ, argv[0], argv[1:]...); err != nil {
			return fmt.Errorf("%s: %w", forms[n.Form].program, err)
		}
	}
	return nil
}

// Try runs a relay command as the night would: with its script, and nothing else of the user's shell.
func (n *Night) Try(ctx context.Context, args ...string) (string, error) {
	script, err := n.text("night.sh")
	if err != nil {
		return "", err
	}
	environ := []string{"PATH=/usr/bin:/bin"}
	for _, name := range []string{"HOME", "USER", "LOGNAME", "SHELL"} {
		environ = append(environ, name+"="+project.Lookup(n.host.Environ, name))
	}
	return cli.RunHost(ctx, n.host.Home, environ, "sh", append([]string{"-c", script, n.Name}, args...)...)
}

// List returns the nights that there are, by name.
func (h *Host) List() (nights []*Night) {
	paths, _ := filepath.Glob(filepath.Join(h.Config, "nights", "*.sh"))
	for _, path := range paths {
		n := &Night{host: h}
		content, err := project.ReadFile(path, project.MaxScript)
		_, mark, _ := strings.Cut(string(content), "\n# ")
		mark, _, _ = strings.Cut(mark, "\n")
		if at := strings.Index(mark, "{"); err == nil && at > 0 && json.Unmarshal([]byte(mark[at:]), n) == nil && n.Script() == path && len(n.At) == len("22:00") {
			nights = append(nights, n)
		}
	}
	return nights
}
