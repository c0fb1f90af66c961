package discussion

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
)

// UnknownError names an id that no entry has.
type UnknownError struct {
	ID      string
	Nearest string // "": none is near
}

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no discussion %q", e.ID) }

// AmbiguousError means that an id was shortened so far that it can mean several entries.
type AmbiguousError struct {
	ID  string
	IDs []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q can be %s", e.ID, plaintext.Some(e.IDs, 5))
}

// find returns the entry of an id, which may be shortened: to its beginning, or to the beginning of what follows its date.
func find(list []Listed, id string) (Listed, error) {
	var found []Listed
	var ids, slugs []string
	short := norm.NFC.String(strings.ToLower(id))
	for _, l := range list {
		if l.Entry == nil {
			continue
		}
		there := norm.NFC.String(strings.ToLower(l.Entry.ID))
		_, slug, _ := strings.Cut(there, "_")
		if l.Entry.ID == id {
			return onlyOne(list, l)
		}
		if short != "" && (strings.HasPrefix(there, short) || strings.HasPrefix(slug, short)) {
			found = append(found, l)
		}
		ids, slugs = append(ids, l.Entry.ID), append(slugs, slug)
	}
	switch len(found) {
	case 0:
		unknown := &UnknownError{ID: id}
		names := slices.Concat(ids, slugs)
		if near, ok := epic.Nearest(short, names); ok {
			unknown.Nearest = ids[slices.Index(names, near)%len(ids)]
		}
		return Listed{}, unknown
	case 1:
		return found[0], nil
	}
	several := each.Of(found, func(l Listed) string { return l.Entry.ID })
	slices.Sort(several)
	return Listed{}, &AmbiguousError{id, slices.Compact(several)}
}

// onlyOne fails when two files say that they are the same entry.
func onlyOne(list []Listed, one Listed) (Listed, error) {
	for _, l := range list {
		if l.Entry != nil && l.Entry.ID == one.Entry.ID && l.Path != one.Path {
			return Listed{}, fmt.Errorf("%s and %s have the same entry_id: rename one of them, and change it there", one.Path, l.Path)
		}
	}
	return one, nil
}
