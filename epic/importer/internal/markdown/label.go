package markdown

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"

	"relay/epic/pattern"
)

// Label is what a title begins with, or ends with: T1, Phase 2, PR-25.5a, feat(auth), (ABC-12). Any word before a number makes one, in any
// language: whether it means a task is for the judgement of its series.
type Label struct {
	Word   string // in lower case; "": a number alone
	Number string // "": the word alone
	ID     string // the number, with its word where that is a code
	Title  string
}

var (
	numberLabel = pattern.New(`^((?:\pL+[ _-]?){0,3}?)[\s#_-]*(\d{1,4}(?:[.\-_][A-Z]?\d{1,3})*[a-zA-Z]?)(?:$|[.):：、，,）\]|/]+[ \t]*(?:[–—·•-]+[ \t]+)?|[ \t]*[–—·•:-][ \t]*|[ \t]+)(.*)$`)
	countLabel  = pattern.New(`^第\s*([0-9一二三四五六七八九十]+)\s*(\p{Han}{1,2}?)(?:[\s:：、.–—-]+(.*))?$`)
	commitLabel = pattern.New(`^(feat|fix|docs|chore|refactor|test|perf|build|ci|style|feature|bugfix)(?:\([\w./-]+\)|/[\w./-]+)?!?:\s+(.*)$`)
	endLabel    = pattern.New(`^(.*?)\s*[\[(（]([A-Z]{1,6})-?(\d{1,4})[\])）]$`)
	letterLabel = pattern.New(`^((?:\pL{2,}[ -]){0,2})([A-Z]|[IVX]{1,4})(?:[.):：、]|\s*[–—-]\s)\s*(.*)$`)
	wordLetter  = pattern.New(`^(\pL{2,}) ([A-Z]|[IVX]{1,4})$`)
	wordLabel   = pattern.New(`^(\pL[\pL\w/ ]{1,14})\s*(?:[-–—]\s|[:：]\s?)\s*.+$`)
	bracketed   = pattern.New(`^[\[(（【]([^\])）】]{1,16})[\])）】]`)
	link        = pattern.New(`!?\[([^\]]*)\]\([^)]*\)`)
)

// hanNumbers are the numbers that Chinese headings count with.
const hanNumbers = "一二三四五六七八九十"

// labelOf returns the label of a title; ok is false where it has none.
func labelOf(title string) (l Label, ok bool) {
	l, ok = labelIn(plainTitle(title))
	if lower := strings.ToLower(l.Word); !isCode(l.Word) || words[lower] != 0 {
		l.Word = lower
	}
	if l.ID = l.Number; l.Number != "" && isCode(l.Word) {
		l.ID = l.Word + l.Number
	}
	return l, ok
}

// isCode reports whether a label is letters without a meaning: T of T1, SHOP of SHOP-12.
func isCode(word string) bool {
	return word != "" && len(word) <= 7 && (len(word) == 1 || strings.ToUpper(word) == word) && strings.Trim(word, letters+"-") == ""
}

// plainTitle is a title without formatting, and without the signs that it begins with.
func plainTitle(title string) string {
	text := strings.TrimLeftFunc(link.ReplaceAllString(Unformatted(title), "$1"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("#[(（【", r)
	})
	return strings.ReplaceAll(strings.TrimLeft(bracketed.ReplaceAllString(text, "$1:"), "#"), "（", " （")
}

func labelIn(text string) (l Label, ok bool) {
	if m := countLabel.FindStringSubmatch(text); m != nil {
		if i := strings.Index(hanNumbers, m[1]); i >= 0 {
			m[1] = strconv.Itoa(i/3 + 1)
		}
		return Label{Word: "第" + m[2], Number: m[1], Title: cmp.Or(m[3], text)}, true
	}
	if commitLabel.MatchString(text) {
		return Label{Word: "commit", Title: text}, true
	}
	if m := numberLabel.FindStringSubmatch(text); m != nil && (m[1] != "" || len(m[2]) < 4 || strings.Contains(m[2], ".")) {
		return Label{Word: strings.Trim(m[1], " _-"), Number: m[2], Title: cmp.Or(m[3], text)}, true
	}
	if m := endLabel.FindStringSubmatch(text); m != nil {
		return Label{Word: m[2], Number: m[3], Title: m[1]}, true
	}
	if m := letterLabel.FindStringSubmatch(text); m != nil {
		return Label{Word: strings.Trim(m[1], " -") + "@", Number: m[2], Title: cmp.Or(m[3], text)}, true
	}
	if m := wordLetter.FindStringSubmatch(text); m != nil {
		return Label{Word: m[1] + "@", Number: m[2], Title: text}, true
	}
	if m := wordLabel.FindStringSubmatch(text); m != nil {
		if title, found := strings.CutPrefix(text, m[1]+": "); found && words[strings.ToLower(m[1])] == ofTask {
			text = title
		}
		return Label{Word: strings.TrimSpace(m[1]), Title: text}, true
	}
	return Label{Title: text}, false
}

// Dotted reports whether a title begins with a number of several parts, as the steps of a phase have it: M0.1, 2B.
func Dotted(title string) bool {
	bold, _, _ := boldLabel(title)
	l, _ := labelOf(cmp.Or(bold, title))
	return strings.ContainsAny(l.Number, ".-") || strings.Trim(l.Number, "0123456789") != "" && l.Word == "" && len(l.Number) > 1
}
