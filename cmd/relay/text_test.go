package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

func TestSafe(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain, with ünïcödé 日本\n\tand tabs": "plain, with ünïcödé 日本\n\tand tabs",
		"\x1b[31mred":               `\u001b[31mred`,
		"\x1b]0;title\a":            `\u001b]0;title\u0007`,
		"over\rwritten":             `over\u000dwritten`,
		"dos\r\nline":               "dos\nline",
		"c1 \u009b31m":              `c1 \u009b31m`,
		"turned \u202earound\u2069": `turned \u202earound\u2069`,
		"not \xff utf-8":            "not \ufffd utf-8",
		"nul \x00 del \x7f":         `nul \u0000 del \u007f`,
	} {
		if got := safe(in); got != want {
			t.Errorf("safe(%q) = %q, want %q", in, got, want)
		}
	}
}

// What comes out drives no terminal, whatever goes in and wherever it is cut; JSON stays the JSON it was.
func FuzzScrubber(f *testing.F) {
	f.Add([]byte("a\x1b[31m\u202e é"), 3)
	f.Add([]byte("日本\r\n\xff"), 1)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		var whole, parts bytes.Buffer
		w := newScrubber(&whole)
		_, _ = w.Write(data)
		p := newScrubber(&parts)
		cut = max(1, cut%7)
		for rest := data; len(rest) > 0; {
			n := min(cut, len(rest))
			_, _ = p.Write(rest[:n])
			rest = rest[n:]
		}
		if whole.String() != parts.String() {
			t.Errorf("in pieces of %d: %q, at once: %q", cut, parts.String(), whole.String())
		}
		if out := whole.String(); !utf8.ValidString(out) || strings.ContainsFunc(strings.ReplaceAll(out, "\ufffd", ""), unsafeRune) {
			t.Errorf("%q came out as %q", data, out)
		}
		text, err := json.Marshal(string(data))
		if err != nil {
			t.Fatal(err)
		}
		var back, want string
		if err := json.Unmarshal([]byte(safe(string(text))), &back); err != nil {
			t.Fatalf("JSON of %q was spoilt: %v", data, err)
		}
		if err := json.Unmarshal(text, &want); err != nil || back != want {
			t.Errorf("JSON of %q became %q (%v)", data, back, err)
		}
	})
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestScrubberNeverStopsItsWriter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		lost  bool
		fails bool
	}{
		"full disk":          {err: syscall.ENOSPC, fails: true},
		"full disk, a night": {err: syscall.ENOSPC, lost: true},
		"nobody reads":       {err: syscall.EPIPE},
		"terminal gone":      {err: syscall.EIO},
	} {
		s := newScrubber(failing{c.err})
		s.lost = c.lost
		for range 3 {
			if n, err := s.Write([]byte("abc")); n != 3 || err != nil {
				t.Errorf("%s: Write = %d, %v", name, n, err)
			}
		}
		if err := s.failure(); (err != nil) != c.fails || (err != nil && !errors.Is(err, c.err)) {
			t.Errorf("%s: failure %v", name, err)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0.0s", 400 * time.Millisecond: "0.4s", 42 * time.Second: "42s", 3*time.Minute + 7*time.Second: "3m07s",
		65 * time.Minute: "1h05m", 59*time.Second + 900*time.Millisecond: "1m00s", 30 * time.Hour: "30h00m",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%d) = %s, want %s", d, got, want)
		}
	}
	for n, want := range map[int64]string{950: "950", 12_400: "12k", 1_234_567: "1.2M"} {
		if got := amount(n); got != want {
			t.Errorf("amount(%d) = %s, want %s", n, got, want)
		}
	}
	if got, want := line("a\n b\t\x1b[0m"+strings.Repeat("c", 40), 20), `a b \u001b[0mcccccc…`; got != want {
		t.Errorf("line = %q, want %q", got, want)
	}
	now := time.Date(2026, 1, 2, 3, 4, 0, 0, time.Local)
	if got, want := moment(now.Add(-time.Hour), now), "02:04"; got != want {
		t.Errorf("moment = %q, want %q", got, want)
	}
	if got, want := moment(now.AddDate(0, 0, -1), now), "2026-01-01 03:04"; got != want {
		t.Errorf("moment = %q, want %q", got, want)
	}
}
