package codex

import (
	"testing"
	"time"
)

func TestResetTime(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	night := time.Date(2026, 11, 21, 23, 20, 30, 0, berlin)
	change := time.Date(2026, 10, 25, 0, 30, 0, 0, berlin) // at 03:00 it is 02:00 again
	for _, c := range []struct {
		text    string
		printed time.Time
		want    string
	}{
		{"or try again at 11:45 PM.", night, "2026-11-21T22:46:00Z"},
		{"Try again at 11:45 pm", night, "2026-11-21T22:46:00Z"},
		{"or try again at 12:05 AM.", night, "2026-11-21T23:06:00Z"}, // no such time was to come on its day
		{"or try again at 11:20 PM.", night, "2026-11-21T22:21:00Z"}, // later in this minute
		{"or try again at 11:10 PM.", night, "2026-11-21T22:20:30Z"}, // has come
		{"or try again at Nov 22nd, 2026 4:17 AM.", night, "2026-11-22T03:18:00Z"},
		{"or try again at Dec 1st, 2026 12:00 PM.", night, "2026-12-01T11:01:00Z"},
		{"or try again at Dec 31st, 2026 12:00 PM.", night, ""}, // later than any window
		{"or try again at Nov 20th, 2026 4:17 AM.", night, ""},
		{"or try again at Feb 31st, 2027 4:17 AM.", night, ""},
		{"or try again at 13:45 PM.", night, ""},
		{"or try again at 5:30 AM.", change, "2026-10-25T04:31:00Z"},
		{"Try again in 3 hours 5 minutes.", night, "2026-11-22T01:25:30Z"},
		{"Please try again in 1 day, 2 hours and 30 seconds", night, "2026-11-23T00:21:00Z"},
		{"Please try again in 11.5s. Visit", night, "2026-11-21T22:20:41.5Z"},
		{"try again in 250ms", night, "2026-11-21T22:20:30.25Z"},
		{"try again in 99 days", night, ""},
		{"try again in 99999999999999999999 hours", night, ""},
		{"try again later.", night, ""},
		{"it resets at 4:17 AM", night, ""},
	} {
		got, want := resetTime(c.text, c.printed), time.Time{}
		if c.want != "" {
			if want, err = time.Parse(time.RFC3339Nano, c.want); err != nil {
				t.Fatal(err)
			}
		}
		if !got.Equal(want) {
			t.Errorf("%q at %s: got %s, want %s", c.text, c.printed, got, want)
		}
	}
}
