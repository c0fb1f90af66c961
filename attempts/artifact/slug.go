package artifact

import (
	"cmp"
	"strings"

	"relay/epic/pattern"
)

const maxSlug = 80

// Slug makes a text fit for the name of a folder or a file on every system: of ASCII letters, digits, dots, - and _. One
// that has nothing of that becomes "session".
func Slug(text string) string {
	slug := strings.Trim(unfit.ReplaceAllString(text, "-"), "-.")
	slug = strings.TrimRight(slug[:min(len(slug), maxSlug)], "-.")
	return cmp.Or(slug, "session")
}

var unfit = pattern.New(`[^a-zA-Z0-9._]+`)

var dateAndTime = pattern.New(`^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[Tt ]([0-9]{2}):([0-9]{2}))?`)

// fileName is the name of the file of an artifact. Its time is that of the date as it is written.
func fileName(a *Artifact, title string) string {
	day, hour, minute := "0000-00-00", "00", "00"
	if found := dateAndTime.FindStringSubmatch(a.Date); found != nil {
		day = found[1]
		if found[2] != "" {
			hour, minute = found[2], found[3]
		}
	}
	return day + "_" + hour + "-" + minute + "_" + strings.ToLower(Slug(title)) + "_" + Slug(string(a.Mode)) + ".yaml"
}
