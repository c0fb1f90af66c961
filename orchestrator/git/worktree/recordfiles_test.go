package worktree

import "testing"

func TestOnce(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]string{
		"a\na\nb\n":      "a\nb\n",
		"a":              "a\n",
		"b\nc\nc\n\nd\n": "b\nc\nd\n",
		"a\r\na\nb\r\n":  "a\r\nb\r\n",
	} {
		if got := string(RecordsOnce([]byte(lines))); got != want {
			t.Errorf("%q: got %q", lines, got)
		}
	}
}

// A file that relay is about to rename is its own; one with such a name elsewhere is not.
func TestTemporary(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]bool{
		".ledgersync.relay-tmp/.gitignore.relay-tmp": true, ".ledgersync/ledger.jsonl.relay-tmp": true,
		"thoughts/shared/handoffs/a/b.yaml.relay-tmp": true, "src/x.relay-tmp": false, ".ledgersync2/x.relay-tmp": false,
	} {
		if got := OwnRecordFile(t.TempDir(), p); got != want {
			t.Errorf("%s: %v, want %v", p, got, want)
		}
	}
}
