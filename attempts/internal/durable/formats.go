package durable

import (
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// formats are the checks of texts in schemas. Each takes what ajv takes, which validates these files in other programs.
var formats = map[string]func(text string) error{"date-time": checkTime, "uri": checkURI, "uuid": checkUUID}

var uri = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.-]*:(//([^/?#\[\]]*@)?\[[0-9a-f:.]+\])?([\w.~!$&'()*+,;=:@/?#-]|%[0-9a-f]{2})*$`)

func checkURI(text string) error {
	if u, err := url.Parse(text); err != nil || !uri.MatchString(text) || len(text) == len(u.Scheme)+len(":") {
		return errors.New("an address has a scheme, ASCII characters, and %20 for a space")
	}
	return nil
}

// checkUUID takes a UUID, also as a URN.
func checkUUID(text string) error {
	if len(text) != 36 && len(text) != len("urn:uuid:")+36 {
		return errors.New("a UUID has 36 characters")
	}
	return uuid.Validate(text)
}

func checkTime(text string) error {
	_, err := ParseTime(text)
	return err
}

var (
	dateTime  = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[Tt\s\v\p{Z}\x{feff}](\d\d):(\d\d):(\d\d)(\.\d+)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)$`)
	errNoTime = errors.New("a date and time has a zone, as in 2026-01-16T06:20:00Z")
)

// ParseTime reads a date and time with its zone, and returns it in UTC. A white space may stand for the T, and the zone may lack its colon
// or its minutes. A leap second is the last second of its minute.
func ParseTime(text string) (time.Time, error) {
	m := dateTime.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, errNoTime
	}
	number := func(part int) int {
		n, _ := strconv.Atoi(m[part])
		return n
	}
	hour, minute, second, zone := number(2), number(3), number(4), number(7)*60+number(8)
	if m[6] == "-" {
		zone = -zone
	}
	utc := hour*60 + minute - zone
	leap := second <= 60 && (utc == -1 || utc == 24*60-1) // at the end of a day
	day, err := time.Parse(time.DateOnly, m[1])
	if err != nil || number(7) > 23 || number(8) > 59 || !leap && (hour > 23 || minute > 59 || second > 59) {
		return time.Time{}, errNoTime
	}
	fraction, err := time.ParseDuration("0" + m[5] + "s")
	return day.Add(time.Duration(utc)*time.Minute + time.Duration(min(second, 59))*time.Second + fraction), err
}
