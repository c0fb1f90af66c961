package terminal

import (
	"fmt"
	"slices"
	"strings"
)

// Palette marks text by what it means, for the Writer that colours it. False leaves text as it is.
//
// A mark is a code point that stands for no character. The Writer replaces it after it has escaped the text, so only these colours reach
// the terminal. Marks take up width: cut and pad text before you mark it.
type Palette bool

// Noncharacters of Unicode.
const (
	markPlain  = '\ufdd0'
	markGood   = '\ufdd1'
	markBad    = '\ufdd2'
	markWait   = '\ufdd3'
	markDim    = '\ufdd4'
	markStrong = '\ufdd5'
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
	if !p || s == "" {
		return s
	}
	return string(as) + s + string(markPlain)
}

var colours = strings.NewReplacer(
	string(markPlain), "\x1b[0m", string(markGood), "\x1b[32m", string(markBad), "\x1b[31m",
	string(markWait), "\x1b[33m", string(markDim), "\x1b[2m", string(markStrong), "\x1b[1m",
)

// Render replaces the marks of text by what a terminal obeys.
func (p Palette) Render(s string) string {
	if !p {
		return s
	}
	return colours.Replace(s)
}

// ColourChoices are the values of --color.
func ColourChoices() []string { return []string{"auto", "always", "never"} }

// Colour has a Writer colour what is marked: always, never, or by itself (auto) on a terminal that has colours, unless the user wants
// none (NO_COLOR) or wants them anywhere (CLICOLOR_FORCE). It fails for any other choice.
func (s *Writer) Colour(choice string, lookup func(name string) string) error {
	if !slices.Contains(ColourChoices(), choice) {
		return fmt.Errorf("--color is %s, not %s", strings.Join(ColourChoices(), ", "), Quote(choice))
	}
	s.Palette = Palette(choice == "always" || choice == "auto" && s.coloured(lookup))
	return nil
}

// coloured reports whether what is written should have colours by default.
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
