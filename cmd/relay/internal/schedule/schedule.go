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

	user []string // environment of the user's shell
}

// form is a way to have the system begin something. Words in capitals are replaced.
type form struct {
	program    string
	files      [][2]string // name below texts, path
	begin, end [][]string  // commands
}

// Forms are the names of the forms.
var Forms = []string{"systemd", "launchd", "cron"}

var forms = map[string]form{
	"systemd": {
		"systemctl",
		[][2]string{{"service", "HOME/.config/systemd/user/NAME.service"}, {"timer", "HOME/.config/systemd/user/NAME.timer"}},
		[][]string{
			{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", "NAME.timer"}, {"systemctl", "--user", "restart", "NAME.timer"},
		},
		[][]string{{"systemctl", "--user", "disable", "--now", "NAME.timer"}},
	},
	"launchd": {
		"launchctl", [][2]string{{"plist", "HOME/Library/LaunchAgents/NAME.plist"}},
		[][]string{{"launchctl", "bootstrap", "gui/UID", "HOME/Library/LaunchAgents/NAME.plist"}},
		[][]string{{"launchctl", "bootout", "gui/UID/NAME"}},
	},
	"cron": {"crontab", nil, [][]string{{"sh", "-c", "CRONTAB", "crontab", "MARK", "LINE"}}, [][]string{{"sh", "-c", "CRONTAB", "crontab", "MARK", ""}}},
}

// choose returns the form that this machine has, or "".
func choose() string {
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

// text returns a text of the night.
func (n *Night) text(name string) (string, error) {
	t, err := template.New(name).Funcs(template.FuncMap{
		"word": plaintext.ShellWord, "number": strconv.Atoi,
		"json": func(n *Night) (string, error) { text, err := json.Marshal(n); return string(text), err },
		"unit": strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace,
		"cron": strings.NewReplacer("%", `\%`).Replace,
	}).ParseFS(texts, "texts/"+name)
	var out bytes.Buffer
	if err == nil {
		err = t.Execute(&out, n)
	}
	return out.String(), err
}

// fill replaces the words in capitals.
func (n *Night) fill(text string) string {
	line, _ := n.text("cron")
	crontab, _ := texts.ReadFile("texts/crontab.sh")
	return strings.NewReplacer("NAME", n.Name, "UID", strconv.Itoa(os.Getuid()), "HOME", project.Lookup(n.user, "HOME"),
		"CRONTAB", string(crontab), "MARK", n.Mark(), "LINE", strings.TrimSpace(line)).Replace(text)
}

// files returns the files of the night by path, its script first. It fails where a file without the mark of the night is in the way.
func (n *Night) files() (list [][2]string, err error) {
	for _, f := range append([][2]string{{"night.sh", n.Script()}}, forms[n.Form].files...) {
		text, err := n.text(f[0])
		if err != nil {
			return nil, err
		}
		path := n.fill(f[1])
		content, err := os.ReadFile(path)
		switch {
		case err == nil && !strings.Contains(string(content), n.Mark()):
			return nil, &terminal.Hinted{Err: fmt.Errorf("%s is not relay's: its mark is missing", path), Hint: "move it away: mv " + plaintext.ShellWord(path) + " ELSEWHERE"}
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		list = append(list, [2]string{path, text})
	}
	return list, nil
}

// shown returns the files and the commands of the night as a person reads them.
func (n *Night) shown() (string, error) {
	list, err := n.files()
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%s:\n%s\n", f[0], f[1])
	}
	for _, argv := range forms[n.Form].begin {
		if n.Form == "cron" {
			argv = []string{"crontab:\nLINE"}
		}
		fmt.Fprintln(&b, n.fill(strings.Join(argv, " ")))
	}
	return b.String(), err
}

// write writes the files of the night and has the system begin it.
func (n *Night) write(ctx context.Context) error {
	list, err := n.files()
	if err == nil {
		_, err = exec.LookPath(forms[n.Form].program)
	}
	for _, f := range list {
		if err == nil {
			err = os.MkdirAll(filepath.Dir(f[0]), 0o700)
		}
		if err == nil {
			err = project.ReplacePrivate(f[0], []byte(f[1]))
		}
	}
	if err != nil {
		return err
	}
	if n.Form == "launchd" { // it refuses a second one
		_ = n.run(ctx, forms[n.Form].end)
	}
	return n.run(ctx, forms[n.Form].begin)
}

// remove has the system forget the night, and removes its files.
func (n *Night) remove(ctx context.Context) error {
	list, err := n.files()
	if err == nil {
		err = n.run(ctx, forms[n.Form].end)
	}
	for _, f := range slices.Backward(list) { // the script last: --list shows the night until all is done
		if err == nil {
			err = os.RemoveAll(f[0])
		}
	}
	return err
}

func (n *Night) run(ctx context.Context, commands [][]string) error {
	for _, argv := range commands {
		filled := make([]string, len(argv))
		for i := range argv {
			filled[i] = n.fill(argv[i])
		}
		if _, err := cli.RunHost(ctx, n.Root, n.user, filled[0], filled[1:]...); err != nil {
			return fmt.Errorf("%s: %w", forms[n.Form].program, err)
		}
	}
	return nil
}

// try runs a relay command as the night would: with its script, and nothing else of the user's shell.
func (n *Night) try(ctx context.Context, args []string) (string, error) {
	script, err := n.text("night.sh")
	if err != nil {
		return "", err
	}
	environ := []string{"PATH=/usr/bin:/bin"}
	for _, name := range []string{"HOME", "USER", "LOGNAME", "SHELL"} {
		environ = append(environ, name+"="+project.Lookup(n.user, name))
	}
	return cli.RunHost(ctx, n.Root, environ, "sh", append([]string{"-c", script, n.Name}, args...)...)
}

// nights returns the nights that a user has, by name.
func nights(user []string) (list []*Night) {
	paths, _ := filepath.Glob(filepath.Join(folder(user), "nights", "*.sh"))
	for _, path := range paths {
		n := &Night{user: user}
		content, err := project.ReadFile(path, project.MaxScript)
		_, mark, _ := strings.Cut(string(content), "\n# ")
		mark, _, _ = strings.Cut(mark, "\n")
		_, mark, found := strings.Cut(mark, "{")
		if err == nil && found && json.Unmarshal([]byte("{"+mark), n) == nil && n.Script() == path && timeOfDay.MatchString(n.At) {
			list = append(list, n)
		}
	}
	return list
}
