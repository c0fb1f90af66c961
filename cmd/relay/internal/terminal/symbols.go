package terminal

import (
	"cmp"
	"slices"
	"strings"

	"relay/orchestrator/view"
)

// ASCII reports whether a terminal should be sent ASCII alone. Locales of Chinese, Japanese and Korean draw some of the symbols two
// columns wide.
func ASCII(lookup func(name string) string) bool {
	locale := strings.ToLower(cmp.Or(lookup("LC_ALL"), lookup("LC_CTYPE"), lookup("LANG")))
	draws := func(language string) bool { return strings.HasPrefix(locale, language) }
	return lookup("TERM") == "dumb" || !strings.Contains(strings.ReplaceAll(locale, "-", ""), "utf8") ||
		slices.ContainsFunc([]string{"zh", "ja", "ko"}, draws)
}

// Symbols returns the characters of a state in a row, and in the bar.
func Symbols(of view.State, ascii bool) (row, bar string) {
	rows, bars := "✓◉■■?▸····", "█◉■■?▸····"
	if ascii {
		rows, bars = "+o!!?>....", "#o!!?>...."
	}
	at := max(slices.Index(view.States(), of), 0)
	return string([]rune(rows)[at]), string([]rune(bars)[at])
}
