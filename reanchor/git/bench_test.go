package git

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// large is a checkout of 20,000 files in 200 folders.
func large(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	git(b, dir, "init", "-q")
	for i := range 20_000 {
		folder := filepath.Join(dir, fmt.Sprintf("d%03d", i%200))
		if i < 200 {
			if err := os.Mkdir(folder, 0o750); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("f%05d.go", i)), fmt.Appendf(nil, "package d\n\n// %d\n", i), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	commit(b, dir, "everything")
	for i := range 10 {
		write(b, dir, fmt.Sprintf("d%03d/f%05d.go", i, i), "package changed\n")
		commit(b, dir, fmt.Sprintf("T%d: change", i))
	}
	write(b, dir, "d001/f00001.go", "package again\n")
	write(b, dir, "d001/new.go", "package d\n")
	git(b, dir, "status", "--porcelain") // so that the index knows the files' times
	return dir
}

// BenchmarkFacts measures facts against a bare git status of the same checkout, turn by turn: "x-status" is the ratio.
func BenchmarkFacts(b *testing.B) {
	dir := large(b)
	g, err := Open(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	var ours, gits time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := tryGit(b.Context(), dir, "status", "--porcelain"); err != nil {
			b.Fatal(err)
		}
		gits += time.Since(start)
		start = time.Now()
		if _, err := g.Facts(b.Context(), 10); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(start)
	}
	b.ReportMetric(float64(ours)/float64(gits), "x-status")
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N)/1000, "facts-ms")
}

// BenchmarkHead measures go-git's answer against the git program's.
func BenchmarkHead(b *testing.B) {
	g, err := Open(b.Context(), normal(b))
	if err != nil {
		b.Fatal(err)
	}
	slow := *g
	slow.fast = fast0()
	for _, one := range []struct {
		name string
		git  *Repo
	}{{"go-git", g}, {"program", &slow}} {
		b.Run(one.name, func(b *testing.B) {
			for b.Loop() {
				if head, err := one.git.Head(b.Context()); head == "" || err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
