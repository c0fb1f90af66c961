package provision

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bench is a home with a watch over it.
type bench struct {
	*testing.T
	home string
	*ConfigWatch
}

func newBench(t *testing.T, files map[string]string, env ...string) *bench {
	t.Helper()
	b := &bench{T: t, home: t.TempDir()}
	for name, text := range files {
		b.write(name, text)
	}
	b.ConfigWatch = &ConfigWatch{Env: append([]string{"HOME=" + b.home}, env...), Folder: filepath.Join(t.TempDir(), "user")}
	return b
}

func (b *bench) write(name, text string) {
	b.Helper()
	path := filepath.Join(b.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) read(name string) string {
	text, err := os.ReadFile(filepath.Join(b.home, name))
	if err != nil {
		return "none"
	}
	return string(text)
}

// What an agent does to the user's tools is put back and told; the change is kept.
func TestMend(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file, was, is, want string
	}{
		"go env -w":      {".config/go/env", "GOPRIVATE=example.com\n", "GOPRIVATE=example.com\nGOFLAGS=-run=^$\n", "HOME/.config/go/env, which configures go, was changed during the attempt; relay put it back: cp USER/changed-1-env HOME/.config/go/env brings the change back"},
		"a first go env": {".config/go/env", "none", "GOFLAGS=-run=^$\n", "HOME/.config/go/env, which configures go, was changed during the attempt; relay put it back: cp USER/changed-1-env HOME/.config/go/env brings the change back"},
		"npm":            {".npmrc", "//r/:_authToken=x\n", "none", "HOME/.npmrc, which configures npm, was changed during the attempt; relay put it back"},
		"pip":            {".config/pip/pip.conf", "a", "b", "HOME/.config/pip/pip.conf, which configures pip, was changed during the attempt; relay put it back: cp USER/changed-1-pip.conf HOME/.config/pip/pip.conf brings the change back"},
		"cargo":          {".cargo/config.toml", "none", "b", "HOME/.cargo/config.toml, which configures cargo, was changed during the attempt; relay put it back: cp USER/changed-1-config.toml HOME/.cargo/config.toml brings the change back"},
		"touched only":   {".npmrc", "a", "a", ""},
		"another file":   {".bashrc", "a", "b", ""},
		"one too large":  {".npmrc", strings.Repeat("x", maxHeld+1), "b", "HOME/.npmrc, which configures npm, was changed during the attempt, and relay cannot put it back: look at it"},
		"git":            {".gitconfig", "none", "[alias]\n\tx = !evil\n", "HOME/.gitconfig, which configures git, was changed during the attempt; relay put it back: cp USER/changed-1-gitconfig HOME/.gitconfig brings the change back"},
		"notes of git":   {".gitconfig", "[user]\n\tname = Ada\n", "[user]\n\tname = Ada\n[maintenance]\n\trepo = /x\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			if tc.was != "none" {
				files[tc.file] = tc.was
			}
			b := newBench(t, files)
			b.Enter()
			if tc.is == "none" {
				if err := os.Remove(filepath.Join(b.home, tc.file)); err != nil {
					t.Fatal(err)
				}
			} else {
				b.write(tc.file, tc.is)
			}
			got := ""
			for _, change := range b.Mend() {
				got += strings.NewReplacer(b.home, "HOME", b.Folder, "USER").Replace(change)
			}
			if got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
			if is := b.read(tc.file); strings.Contains(tc.want, "put it back") && !strings.Contains(tc.want, "cannot") && is != tc.was {
				t.Errorf("got %q, want %q", is, tc.was)
			}
			if more := b.Mend(); len(more) > 0 {
				t.Errorf("told again: %v", more)
			}
		})
	}
}

// What stands in the way of a file is left to the user.
func TestMendFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{".npmrc": "a"})
	b.Enter()
	path := filepath.Join(b.home, ".npmrc")
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o755)); err != nil {
		t.Fatal(err)
	}
	want := path + ", which configures npm, was changed during the attempt, and relay cannot put it back (a folder is in its place): look at it"
	if found := b.Mend(); len(found) != 1 || found[0] != want {
		t.Errorf("got %q, want %q", found, want)
	}
	if found := b.Mend(); len(found) > 0 {
		t.Errorf("told again: %+v", found)
	}
}

// What the user's own set-up changes stays, and so does what changes while no agent is at work.
func TestMendLeavesTheUsers(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{".npmrc": "a"})
	b.Enter()
	if err := b.RunForUser(func() error { b.write(".npmrc", "b"); return nil }); err != nil {
		t.Fatal(err)
	}
	if found := b.Mend(); len(found) > 0 || b.read(".npmrc") != "b" {
		t.Errorf("got %+v", found)
	}
	b.Leave()
	b.write(".npmrc", "c")
	b.Enter()
	if found := b.Mend(); len(found) > 0 || b.read(".npmrc") != "c" {
		t.Errorf("got %+v", found)
	}
}
