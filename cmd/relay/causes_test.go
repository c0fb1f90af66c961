package main

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// causes are the rows of the tables of attempts and landings that the scripts have had a ruling of.
type causes struct {
	mu   sync.Mutex
	seen map[string]bool
}

// A cause stands in the log of a run, in JSON, and of an attempt in the ledger as well.
var causeText = regexp.MustCompile(`"cause":"([^"]+)"|(?m)^ +cause: "?([^"\n]+)"?$`)

// collect reads what a script has left.
func (c *causes) collect(dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !slices.Contains([]string{"events.jsonl", "attempt-ledger.yml"}, d.Name()) {
			return nil //nolint:nilerr // a script may leave what cannot be read, and named pipes
		}
		data, _ := os.ReadFile(path)
		for _, m := range causeText.FindAllStringSubmatch(string(data), -1) {
			c.seen[m[1]+m[2]] = true
		}
		return nil
	})
}

// withoutScript says of the rows that no script brings about why that is so, or what tests them.
var withoutScript = map[string]string{
	"broken before":              "worker.TestBrokenBefore",
	"cannot run on the work":     "worker.TestCannotRun",
	"changed beside":             "the table alone: another task has to be at work in the moment in which the check ends",
	"changes wanted, and mended": "a step on the way: no attempt ends with it",
	"landed":                     "a landing that succeeds is an event without a cause",
	"no result, yet":             "a step on the way: no attempt ends with it",
	"too large":                  "the table alone: a change of more files than git lists in 64 MiB",
}

// wanted fails when all scripts have run and one of the rows of docs/verdicts.md has not ruled in any.
func (c *causes) wanted(t *testing.T) {
	t.Helper()
	if !*full || flag.Lookup("test.run").Value.String() != "" {
		return
	}
	page, err := os.ReadFile("../../docs/verdicts.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, title := range []string{"## Attempts", "## Landings"} {
		_, section, _ := strings.Cut(string(page), title+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+?) \|`).FindAllStringSubmatch(section, -1) {
			rows[m[1]] = m[1] != "cause" && m[1] != "---"
		}
	}
	if !rows["check failed"] || !rows["red on the merged tree"] {
		t.Fatalf("docs/verdicts.md is not read: %v", rows)
	}
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		if why := withoutScript[row]; rows[row] && c.seen[row] == (why != "") {
			t.Errorf("row %q of docs/verdicts.md: it ruled in a script: %v; said to be tested elsewhere: %q", row, c.seen[row], why)
		}
	}
}
