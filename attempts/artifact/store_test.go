package artifact

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"relay/attempts/internal/durable"
	"relay/attempts/internal/durable/simdisk"
)

func openTest(t *testing.T) (w *Writer, top string) {
	t.Helper()
	top = t.TempDir()
	w, err := Open(top, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w, top
}

// A file has the name of its artifact, and its time. The folder that is made for it is ignored by git.
func TestAdd(t *testing.T) {
	t.Parallel()
	w, top := openTest(t)
	if list, err := os.ReadDir(top); err != nil || len(list) > 0 {
		t.Fatalf("Open has made %v, %v", list, err)
	}
	a := sample()
	a.Session = "auth/../refactor"
	name, added, err := w.Add(a, "R1 Seq/12")
	if err != nil || !added || name != "thoughts/shared/handoffs/auth-..-refactor/2026-01-13_15-00_r1-seq-12_handoff.yaml" {
		t.Fatalf("got %s, %v, %v", name, added, err)
	}
	file := filepath.Join(top, filepath.FromSlash(name))
	hold(t, newValidator(t), string(readFile(t, file)))
	info, err := os.Stat(file)
	if at, _ := a.At(); err != nil || !info.ModTime().Equal(at) {
		t.Errorf("the file's time is %v, %v, and the artifact's %v", info.ModTime(), err, at)
	}
	if got := string(readFile(t, filepath.Join(top, TopFolder, ".gitignore"))); got != "*\n" {
		t.Errorf(".gitignore has %q", got)
	}
}

// No file is overwritten by another artifact of the same minute, and none is written twice.
func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	w, top := openTest(t)
	var names []string
	for _, goal := range []string{"a", "b", "a", "c", "b"} {
		a := sample()
		a.Goal = goal
		name, added, err := w.Add(a, "t")
		if err != nil || added != (len(names) != 2 && len(names) != 4) {
			t.Fatalf("%s: %s, %v, %v", goal, name, added, err)
		}
		names = append(names, path.Base(name))
	}
	if got := strings.Join(names, " "); got != "2026-01-13_15-00_t_handoff.yaml 2026-01-13_15-00_t-2_handoff.yaml 2026-01-13_15-00_t_handoff.yaml 2026-01-13_15-00_t-3_handoff.yaml 2026-01-13_15-00_t-2_handoff.yaml" {
		t.Errorf("got %s", got)
	}
	list, err := List(top)
	if err != nil || len(list) != 3 {
		t.Errorf("got %d files, %v", len(list), err)
	}
}

func TestPutReplaces(t *testing.T) {
	t.Parallel()
	w, top := openTest(t)
	for _, goal := range []string{"first", "second"} {
		a := sample()
		a.Goal = goal
		if name, err := w.Put(a, "r1-12"); err != nil || name != Name(a, "r1-12") {
			t.Fatalf("got %s, %v", name, err)
		}
	}
	list, err := List(top)
	if err != nil || len(list) != 1 || list[0].Artifact.Goal != "second" {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestWriterRefusesWhatIsInvalid(t *testing.T) {
	t.Parallel()
	w, top := openTest(t)
	for want, change := range map[string]func(*Artifact){
		"the artifact is invalid: missing property 'goal'":         func(a *Artifact) { a.Goal = "\x00" },
		"the artifact is invalid: missing property 'primary_bead'": func(a *Artifact) { a.PrimaryBead = " " },
		"outcome: ":      func(a *Artifact) { a.Outcome = "DONE" },
		"mode: ":         func(a *Artifact) { a.Mode = "../x" },
		"date: ":         func(a *Artifact) { a.Date = "yesterday" },
		"git.pr_ready: ": func(a *Artifact) { a.Git.PRReady = "nope" },
		"the artifact has 1049407 bytes, and may have 1048576": func(a *Artifact) { a.Test = strings.Repeat("x", MaxSize) },
	} {
		a := sample()
		change(a)
		if _, _, err := w.Add(a, "t"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if list, err := os.ReadDir(top); err != nil || len(list) > 0 {
		t.Errorf("something was written: %v, %v", list, err)
	}
}

// A folder of the user's is used as it is, and nothing is written outside of the checkout.
func TestFoldersOfOthers(t *testing.T) {
	t.Parallel()
	w, top := openTest(t)
	if err := os.Mkdir(filepath.Join(top, TopFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Add(sample(), "t"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(top, TopFolder, ".gitignore")); err == nil {
		t.Error("the user's folder has got a .gitignore")
	}

	w, top = openTest(t)
	if err := os.WriteFile(filepath.Join(top, TopFolder), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Add(sample(), "t"); err == nil || err.Error() != "thoughts is not a folder: artifacts need one of that name" {
		t.Errorf("got %v", err)
	}

	w, top = openTest(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(top, TopFolder)); err != nil {
		t.Skip(err)
	}
	if _, _, err := w.Add(sample(), "t"); err == nil {
		t.Error("a link has led out of the checkout")
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
		t.Errorf("outside is %v, %v", list, err)
	}
}

func TestListSortsAndSkips(t *testing.T) {
	t.Parallel()
	w, top := openTest(t)
	for _, date := range []string{"2026-01-14", "2026-01-13T23:00:00-02:00", "2026-01-13 10:00:00Z"} {
		a := sample()
		a.Date = date
		if _, _, err := w.Add(a, "t"); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(top, filepath.FromSlash(Folder), "other")
	if err := os.MkdirAll(filepath.Join(dir, "folder.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"x.yaml": "nonsense", "x.md": "goal: g", "empty.yml": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := List(top)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range list {
		if l.Artifact == nil {
			got = append(got, filepath.Base(l.Path))
			continue
		}
		got = append(got, l.Artifact.Date)
	}
	if want := "empty.yml folder.yaml x.yaml 2026-01-13 10:00:00Z 2026-01-14 2026-01-13T23:00:00-02:00"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// Several writers at once lose nothing.
func TestWritersAtOnce(t *testing.T) {
	t.Parallel()
	_, top := openTest(t)
	const writers, each = 4, 5
	var all sync.WaitGroup
	for k := range writers {
		all.Go(func() {
			w, err := Open(top, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer w.Close()
			for i := range each {
				a := sample()
				a.Goal = strings.Repeat("g", 1+k*each+i)
				if _, added, err := w.Add(a, "t"); err != nil || !added {
					t.Errorf("%v, %v", added, err)
				}
			}
		})
	}
	all.Wait()
	if _, err := os.Lstat(filepath.Join(top, TopFolder+".relay-tmp")); err == nil {
		t.Error("the temporary folder is left")
	}
	if got := string(readFile(t, filepath.Join(top, TopFolder, ".gitignore"))); got != "*\n" {
		t.Errorf(".gitignore has %q", got)
	}
	goals := make(map[string]bool)
	list, err := List(top)
	for _, l := range list {
		if l.Err != nil {
			t.Error(l.Err)
			continue
		}
		goals[l.Artifact.Goal] = true
	}
	if err != nil || len(goals) != writers*each {
		t.Errorf("%d artifacts, %v", len(goals), err)
	}
}

// Whenever the machine goes off, a file that was replaced has the old text or the new one, and writing it again mends everything.
func TestCrash(t *testing.T) {
	t.Parallel()
	write := func(disk durable.FS, goals ...string) error {
		w, err := NewWriter(disk, nil)
		if err != nil {
			return err
		}
		for _, goal := range goals {
			a := sample()
			a.Goal = goal
			if _, err := w.Put(a, "r1-12"); err != nil {
				return err
			}
		}
		return nil
	}
	whole := simdisk.New()
	if err := write(whole, "old", "new"); err != nil {
		t.Fatal(err)
	}
	name := Name(sample(), "r1-12")
	read := func(disk durable.FS) string {
		f, err := disk.OpenFile(name, os.O_RDONLY, 0)
		if err != nil {
			return ""
		}
		text, err := io.ReadAll(f)
		if err != nil {
			return err.Error()
		}
		a, _, err := Decode(text)
		if err != nil {
			return err.Error()
		}
		return a.Goal
	}
	for stop := 1; stop < whole.Ops(); stop++ {
		for seed := range uint64(4) {
			disk := simdisk.New()
			disk.StopAt(stop)
			if err := write(disk, "old", "new"); !errors.Is(err, simdisk.ErrCrashed) {
				t.Fatalf("operation %d: %v", stop, err)
			}
			next := disk.Crash(rand.New(rand.NewPCG(uint64(stop), seed)))
			if got := read(next); got != "" && got != "old" && got != "new" {
				t.Errorf("operation %d, seed %d: %s", stop, seed, got)
			}
			if err := write(next, "again"); err != nil || read(next) != "again" {
				t.Errorf("operation %d, seed %d: %v, %s", stop, seed, err, read(next))
			}
		}
	}
}
