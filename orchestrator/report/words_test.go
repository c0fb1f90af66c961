package report

import (
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0.0s", 400 * time.Millisecond: "0.4s", 42 * time.Second: "42s", 3*time.Minute + 7*time.Second: "3m07s",
		65 * time.Minute: "1h05m", 59*time.Second + 900*time.Millisecond: "1m00s", 30 * time.Hour: "30h00m",
	} {
		if got := plaintext.Span(d); got != want {
			t.Errorf("Span(%d) = %s, want %s", d, got, want)
		}
	}
	for n, want := range map[int64]string{950: "950", 12_400: "12k", 1_234_567: "1.2M"} {
		if got := plaintext.Amount(n); got != want {
			t.Errorf("Amount(%d) = %s, want %s", n, got, want)
		}
	}
	if got, want := plaintext.Fit("a\n b\t\x1b[0m"+strings.Repeat("c", 40), 20), `a b \u001b[0mcccccc…`; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
	for u, want := range map[attempts.Usage]string{
		{InputTokens: 2_000, OutputTokens: 10}:                                    "2k tokens in, 10 out",
		{InputTokens: 2_000, CachedTokens: 1_000, OutputTokens: 10, CostUSD: 1.5}: "1.50 USD, 2k tokens in (1k from the cache), 10 out",
	} {
		if got := UsageText(u); got != want {
			t.Errorf("Usage(%+v) = %q, want %q", u, got, want)
		}
	}
	for code, want := range map[int]string{0: "passed", -1: "killed", 2: "exit status 2"} {
		if got := plaintext.ExitText(code); got != want {
			t.Errorf("Exit(%d) = %q, want %q", code, got, want)
		}
	}
	if got, want := plaintext.Clip("añb", 2), "a…"; got != want {
		t.Errorf("Clip = %q, want %q", got, want)
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[uint64]string{0: "less than 1 MiB", 7 << 20: "7 MiB", 1<<30 - 1: "1023 MiB", 3 << 29: "1.5 GiB"} {
		if got := plaintext.Bytes(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestOn(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 23, 0, 0, 0, time.Local)
	for later, want := range map[time.Duration]string{
		time.Minute: "23:01", 2 * time.Hour: "Sat 2026-11-28 01:00", 72 * time.Hour: "Mon 2026-11-30 23:00", 365 * 24 * time.Hour: "Sat 2027-11-27 23:00",
	} {
		if got := plaintext.LocalTimeOn(now.Add(later), now, "15:04"); got != want {
			t.Errorf("%s: got %q, want %q", later, got, want)
		}
	}
}
