package plaintext

import (
	"fmt"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
)

// Fit folds text into one line of at most width columns.
func Fit(s string, width int) string {
	return displaywidth.TruncateString(Escape(strings.Join(strings.Fields(s), " ")), width, "…")
}

// Count returns text that says how many there are of something, in words.
func Count(n int, noun string) string {
	return fmt.Sprintf("%d %s", n, Verb(n, noun, noun+"s"))
}

// Verb returns the form of a verb for n things: one or many.
func Verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Nothing reports whether a value is one of the ways to write that there is none.
func Nothing(s string) bool {
	switch strings.ToLower(strings.Trim(s, " .`")) {
	case "", "-", "--", "–", "—", "none", "n/a", "nothing", "no":
		return true
	}
	return false
}

// Span shows a duration as people say it: 0.4s, 42s, 3m07s, 1h05m.
func Span(d time.Duration) string {
	if d = max(d, 0); d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Ago says in words how long ago something was.
func Ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return Count(int(d/time.Minute), "minute") + " ago"
	case d < 48*time.Hour:
		return Count(int(d/time.Hour), "hour") + " ago"
	}
	return Count(int(d/(24*time.Hour)), "day") + " ago"
}

// WidestOf returns the length of the longest text of a list.
func WidestOf[E any](list []E, shown func(E) string) (width int) {
	for _, e := range list {
		width = max(width, len(shown(e)))
	}
	return width
}

// Amount shows a number of tokens: 950, 12k, 1.2M.
func Amount(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Some joins the first few names of a list.
func Some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// ExitText returns text that says how a command ended.
func ExitText(code int) string {
	switch {
	case code == 0:
		return "passed"
	case code < 0:
		return "killed"
	}
	return fmt.Sprintf("exit status %d", code)
}

// Clip keeps the first bytes of a text.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return Head(text, most) + "…"
}

// Because puts a colon before what explains something, if anything does.
func Because(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return ": " + text
}

// ShellWord writes text so that a person can paste it into a shell as one word.
func ShellWord(text string) string {
	odd := func(r rune) bool { return strings.ContainsRune(" \t\n'\"\\$`!*?[](){}<>|&;#~", r) }
	if text != "" && !strings.ContainsFunc(text, odd) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Timestamp returns a time as the ledger writes it.
func Timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Processes returns text that says how many processes there are.
func Processes(n int) string {
	return fmt.Sprintf("%d %s", n, Verb(n, "process", "processes"))
}

// FirstOf returns the first text that is not blank; "" when all are.
func FirstOf(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}

// Bytes returns a size for people.
func Bytes(n uint64) string {
	switch {
	case n < 1<<20:
		return "less than 1 MiB"
	case n < 1<<30:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// LocalTimeOn returns the clock time of t by layout, in local time: with weekday and date unless it is on the day of now.
func LocalTimeOn(t, now time.Time, layout string) string {
	t, now = t.Local(), now.Local()
	if t.Year() != now.Year() || t.YearDay() != now.YearDay() {
		layout = "Mon 2006-01-02 " + layout
	}
	return t.Format(layout)
}

// LocalTime returns a time in local time, as people read it.
func LocalTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// Listed joins the first few of a list of foreign names, made harmless.
func Listed(names []string) string {
	shown := make([]string, len(names))
	for i, name := range names[:min(mostListed, len(names))] {
		shown[i] = Capped(name, 200)
	}
	return Some(shown, mostListed)
}

// mostListed is how many are named.
const mostListed = 3
