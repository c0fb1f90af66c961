package relayfiles_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/orchestrator/relayfiles"
	"relay/runners"
)

func none(string) bool { return false }

// put makes a transcript and returns its path.
func put(t *testing.T, dir, folder string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(folder), relayfiles.Transcript)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	f, err := relayfiles.OpenTranscript(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCompress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := bytes.Repeat([]byte(`{"type":"assistant","message":"the same again"}`+"\n"), 10_000)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ended, open, small := put(t, dir, "R1/T1/1", long), put(t, dir, "R1/T2/1/fix-1", long), put(t, dir, "R1/T1/1/review/claude/1", []byte("{}\n"))
	if err := os.Chtimes(ended, at, at); err != nil {
		t.Fatal(err)
	}
	// What a killed relay has left is no obstacle.
	if err := os.WriteFile(ended+relayfiles.Compressed+".part", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	freed := relayfiles.CompressTranscripts(t.Context(), dir, func(folder string) bool { return folder == filepath.Join(dir, "R1", "T2", "1") })
	info, err := os.Stat(ended + relayfiles.Compressed)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(len(long)) - info.Size(); freed != want || freed < int64(len(long))/10*9 {
		t.Errorf("freed %d bytes, want %d", freed, want)
	}
	if info.Mode().Perm()&0o077 != 0 || !info.ModTime().Equal(at) {
		t.Errorf("compressed: %s of %s", info.Mode(), info.ModTime())
	}
	for path, want := range map[string]string{ended: "transcript.jsonl.zst", open: "transcript.jsonl", small: "transcript.jsonl"} {
		files, err := os.ReadDir(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		files = slices.DeleteFunc(files, fs.DirEntry.IsDir)
		if len(files) != 1 || files[0].Name() != want {
			t.Errorf("%s: %v, want %s alone", filepath.Dir(path), files, want)
		}
	}
	if !bytes.Equal(read(t, ended), long) || !bytes.Equal(read(t, open), long) || string(read(t, small)) != "{}\n" {
		t.Error("what is read is not what was written")
	}
	if again := relayfiles.CompressTranscripts(t.Context(), dir, func(string) bool { return false }); again == 0 {
		t.Error("what was open before is not compressed later")
	}
}

// A relay killed between the two last steps leaves both files: the original is read, and compressed again.
func TestBothAreThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, then := bytes.Repeat([]byte("first "), 20_000), bytes.Repeat([]byte("then "), 20_000)
	path := put(t, dir, "R/T/1", first)
	relayfiles.CompressTranscripts(t.Context(), dir, none)
	put(t, dir, "R/T/1", then)
	if !bytes.Equal(read(t, path), then) {
		t.Error("the original is not read")
	}
	relayfiles.CompressTranscripts(t.Context(), dir, none)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the original is still there: %v", err)
	}
	if !bytes.Equal(read(t, path), then) {
		t.Error("the compressed copy is the earlier one")
	}
}

func TestNothingIsCompressed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := bytes.Repeat([]byte("line\n"), 50_000)
	elsewhere := put(t, t.TempDir(), "", long)
	if err := os.MkdirAll(filepath.Join(dir, "R/T/1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "R/T/1", relayfiles.Transcript)); err != nil {
		t.Skip(err)
	}
	if freed := relayfiles.CompressTranscripts(t.Context(), dir, none); freed != 0 {
		t.Errorf("a link was followed: %d bytes freed", freed)
	}
	if _, err := relayfiles.OpenTranscript(filepath.Join(dir, "R/T/1", relayfiles.Transcript)); err == nil {
		t.Error("a link was opened")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	path := put(t, dir, "R/T/2", long)
	if freed := relayfiles.CompressTranscripts(over, dir, none); freed != 0 {
		t.Errorf("%d bytes freed after the end", freed)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), relayfiles.Transcript)
	if _, err := relayfiles.OpenTranscript(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no transcript: %v", err)
	}
	if err := os.WriteFile(path+relayfiles.Compressed, []byte("this was compressed once"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := relayfiles.OpenTranscript(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.ReadAll(f); err == nil || !strings.Contains(err.Error(), path+relayfiles.Compressed) {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "20260301T000000Z-beef/T1/1", []byte("12345"))
	put(t, dir, "20260101T101112Z-cafe/T1/2/fix-1", []byte("123"))
	put(t, dir, "mine/T1/1", []byte("1"))
	first := filepath.Join(dir, "20260101T101112Z-cafe/T1/2")
	for name, size := range map[string]int{"fix-1/" + runners.TimesFile: 4, "receipt.json": 100} {
		if err := os.WriteFile(filepath.Join(first, filepath.FromSlash(name)), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := relayfiles.RunFolders(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 3 || runs[0].Bytes != 7 || len(runs[0].Files) != 2 || runs[1].Bytes != 5 || !runs[2].Began.IsZero() {
		t.Fatalf("got %+v", runs)
	}
	if want := time.Date(2026, 1, 1, 10, 11, 12, 0, time.UTC); !runs[0].Began.Equal(want) {
		t.Errorf("began %s, want %s", runs[0].Began, want)
	}
	if err := runs[0].Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(first, "receipt.json")); err != nil {
		t.Error(err)
	}
	if left, err := relayfiles.RunFolders(dir); err != nil || len(left) != 2 {
		t.Errorf("left %+v, %v", left, err)
	}
	if none, err := relayfiles.RunFolders(filepath.Join(dir, "nowhere")); err != nil || len(none) != 0 {
		t.Errorf("no folder: %v, %v", none, err)
	}
}
