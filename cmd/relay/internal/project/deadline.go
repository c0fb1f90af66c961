package project

import "time"

// Deadline returns when a run that begins now ends: at the next such time of day, or after such a duration. The
// configuration has refused everything else; "" is no deadline.
func Deadline(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if of, err := time.Parse("15:04", text); err == nil {
		now = now.Local()
		at := time.Date(now.Year(), now.Month(), now.Day(), of.Hour(), of.Minute(), 0, 0, time.Local)
		if !at.After(now) {
			at = time.Date(now.Year(), now.Month(), now.Day()+1, of.Hour(), of.Minute(), 0, 0, time.Local)
		}
		return at, nil
	}
	rest, err := time.ParseDuration(text)
	return now.Add(rest), err
}
