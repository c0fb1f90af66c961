package schedule

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the goldens")

// night returns a night whose names need quotes in every form.
func night(home, form string) *Night {
	config := filepath.Join(home, `.config/it's 100% "$x"`)
	n := named("/home/ada/it's 100% -- $HOME", "", []string{"HOME=" + home, "XDG_CONFIG_HOME=" + config})
	n.At, n.Work = "22:05", []string{"work", "--from", "22:05", "--until", "07:00", "--model", "a b"}
	n.Form, n.Relay, n.EnvFile = form, "/usr/local/bin/relay", config+"/relay/night.env"
	n.Environ = []string{"PATH=/usr/bin:/home/ada/it's bin", "GOFLAGS=-a -b"}
	return n
}

// The texts of each form.
func TestTexts(t *testing.T) {
	t.Parallel()
	for _, form := range Forms {
		n := night("/home/ada", form)
		var got strings.Builder
		for _, name := range append(append([]string{"sh"}, forms[form].files...), form+".begin", form+".end") {
			text, err := n.text(name)
			if err != nil {
				t.Fatal(err)
			}
			got.WriteString("== " + name + "\n" + text)
		}
		path := filepath.Join("testdata", form+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || got.String() != string(want) {
			t.Errorf("%v: go test ./cmd/relay/internal/schedule -update; got\n%s", err, got.String())
		}
	}
}

// systemd takes the units, and the shell the script.
func TestVerified(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := night(dir, "systemd")
	list, err := n.files()
	if err != nil {
		t.Fatal(err)
	}
	var units []string
	for _, f := range list {
		if err := os.MkdirAll(filepath.Dir(f[0]), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f[0], []byte(f[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(f[0], "systemd") {
			units = append(units, f[0])
		}
	}
	if said, err := exec.Command("sh", "-n", n.Script()).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("there is no systemd-analyze")
	}
	cmd := exec.Command("systemd-analyze", append([]string{"--user", "verify"}, units...)...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	said, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(said), n.Name) {
		t.Errorf("%v: %s", err, said)
	}
	if said, err := exec.Command("systemd-analyze", "calendar", "*-*-* 22:05:00").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

// What the script sets is what the night has.
func TestScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := night(dir, "cron")
	n.Root, n.Relay, n.EnvFile = dir, "/usr/bin/env", filepath.Join(dir, "it's.env")
	n.Environ = append(n.Environ, "PATH=/usr/bin:/bin")
	if err := os.WriteFile(n.EnvFile, []byte("# keys\nKEY='a b'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := n.try(t.Context(), []string{"-u", "HOME"})
	if err != nil || !strings.Contains(got, "\nKEY=a b\n") || !strings.Contains("\n"+got, "\nGOFLAGS=-a -b\n") {
		t.Errorf("%v:\n%s", err, got)
	}
}
