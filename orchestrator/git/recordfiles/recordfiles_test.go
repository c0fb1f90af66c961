package recordfiles

import "testing"

const (
	ownOne   = `{"id":"4f1e6a3c-7ad3-5a0f-9a0b-3f6f2f1b0c11","agent":{"name":"relay"},"tags":["relay","lab"]}`
	ownTwo   = `{"id":"4f1e6a3c-7ad3-5a0f-9a0b-3f6f2f1b0c12","agent":{"name":"claude-code"},"tags":["relay","lab","T1"]}`
	agents   = `{"id":"6f6dc9d3-1d0f-4b6b-8a0e-0a4a8f1f8a10","agent":{"name":"claude-code"},"tags":["relay"]}`
	somebody = `{"id":"4f1e6a3c-7ad3-5a0f-9a0b-3f6f2f1b0c13","agent":{"name":"ada"},"tags":[]}`
)

func TestOwn(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{ownOne: true, ownTwo: true, agents: false, somebody: false, "": false, "{}": false, ownOne[:40]: false} {
		if got := Own([]byte(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestOnce(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]string{
		"a\na\nb\n":      "a\nb\n",
		"a":              "a\n",
		"b\nc\nc\n\nd\n": "b\nc\nd\n",
		"a\r\na\nb\r\n":  "a\r\nb\r\n",
	} {
		if got := string(Once([]byte(lines))); got != want {
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
		if got := OwnFile(t.TempDir(), p); got != want {
			t.Errorf("%s: %v, want %v", p, got, want)
		}
	}
}
