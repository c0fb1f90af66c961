package terminal

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
)

// Palette marks text by what it means, for the Writer it belongs to, which colours it. The zero Palette leaves text as it is.
//
// A mark is made of code points that stand for no character, and of some that nobody can guess: what an agent prints is never one. It
// has no width of its own only once it is written, so text is cut and padded before it is marked.
type Palette struct{ key string }

// Noncharacters of Unicode, of which marks are made. Those from firstKey on make up the key.
const (
	markPlain  = '\ufdd0'
	markGood   = '\ufdd1'
	markBad    = '\ufdd2'
	markWait   = '\ufdd3'
	markDim    = '\ufdd4'
	markStrong = '\ufdd5'
	firstKey   = '\ufde0'

	keyRunes  = 12 // of 4 bits each
	markBytes = 3 * (1 + keyRunes)
)

// Good marks what has come to a good end.
func (p Palette) Good(s string) string { return p.mark(markGood, s) }

// Bad marks what has failed, or needs a person.
func (p Palette) Bad(s string) string { return p.mark(markBad, s) }

// Wait marks what waits, or is limited, or should be known.
func (p Palette) Wait(s string) string { return p.mark(markWait, s) }

// Dim marks what matters less: times, and what cannot be done yet.
func (p Palette) Dim(s string) string { return p.mark(markDim, s) }

// Strong marks what goes on now, and headings.
func (p Palette) Strong(s string) string { return p.mark(markStrong, s) }

func (p Palette) mark(as rune, s string) string {
	if p.key == "" || s == "" {
		return s
	}
	return string(as) + p.key + s + string(markPlain) + p.key
}

// newPalette returns a palette with a key of its own.
func newPalette() Palette {
	random := make([]byte, keyRunes)
	_, _ = rand.Read(random) // it never fails
	var key strings.Builder
	for _, b := range random {
		key.WriteRune(firstKey + rune(b&0xf))
	}
	return Palette{key.String()}
}

// Render replaces the marks of text by what a terminal obeys.
func (p Palette) Render(s string) string {
	if p.key == "" || !strings.Contains(s, p.key) {
		return s
	}
	return strings.NewReplacer(
		string(markPlain)+p.key, "\x1b[0m", string(markGood)+p.key, "\x1b[32m", string(markBad)+p.key, "\x1b[31m",
		string(markWait)+p.key, "\x1b[33m", string(markDim)+p.key, "\x1b[2m", string(markStrong)+p.key, "\x1b[1m",
	).Replace(s)
}

// cutMark returns the length of p without what may be the beginning of a mark at its end.
func (p Palette) cutMark(text []byte) int {
	if p.key == "" {
		return len(text)
	}
	tail := text[max(0, len(text)-markBytes+1):]
	for i := range tail {
		for _, as := range []rune{markPlain, markGood, markBad, markWait, markDim, markStrong} {
			if strings.HasPrefix(string(as)+p.key, string(tail[i:])) {
				return len(text) - len(tail) + i
			}
		}
	}
	return len(text)
}

// ColourChoices are the values of --color.
func ColourChoices() []string { return []string{"auto", "always", "never"} }

// Colour has a Writer colour what is marked: always, never, or by itself (auto) on a terminal that has colours, unless the user wants
// none (NO_COLOR) or wants them anywhere (CLICOLOR_FORCE). It fails for any other choice.
func (s *Writer) Colour(choice string, lookup func(name string) string) error {
	if !slices.Contains(ColourChoices(), choice) {
		return fmt.Errorf("--color is %s, not %s", strings.Join(ColourChoices(), ", "), Quote(choice))
	}
	s.Palette = Palette{}
	if choice == "always" || choice == "auto" && s.coloured(lookup) {
		s.Palette = newPalette()
	}
	return nil
}

// coloured reports whether what is written should have colours when nobody has said.
func (s *Writer) coloured(lookup func(name string) string) bool {
	force := lookup("CLICOLOR_FORCE")
	switch {
	case lookup("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case !IsTerminal(s.Dest) || lookup("TERM") == "dumb":
		return false
	}
	return lookup("TERM") != ""
}
