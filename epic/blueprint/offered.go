package blueprint

import (
	"slices"
	"strings"

	"relay/epic/blueprint/inline"
	"relay/epic/blueprint/outline"
	"relay/epic/pattern"
)

var (
	checkWords = pattern.New(`(?i)\b(?:checks?|verification|validation|verify|validate)\b`)
	// likeCommand matches what may be a command, and not a sentence.
	likeCommand = pattern.New(`^(?:[A-Z_]+=\S+[ \t]+)*[a-z./~\"$(\[!][^\s:*]*(?:[ \t].*)?$`)
	shellFence  = pattern.New("^ {0,3}(?:`{3,}|~{3,})[ \\t]*(?i:|sh|bash|zsh|shell|console|shell-session|cmd|text)[ \\t]*\n")
)

// mostOffered bounds the commands that are offered: a person reads them.
const mostOffered = 20

// namesChecks tells the heading of a section that says how the whole work is proved.
func namesChecks(heading string) bool { return checkWords.MatchString(inline.Plain(heading)) }

// offer takes note of the commands in code of a block that says how the whole work is proved: the lines of a block of code, and lines
// of text that begin with code.
func offer(p *parser, b *block) {
	var lines []line
	switch b.kind {
	case code:
		if !shellFence.MatchString(b.raw + "\n") {
			return
		}
		lines = commandLines(b)
	case list, paragraph:
		for _, l := range b.first() {
			_, text, _ := strings.Cut(l.text, "] ") // of a box
			if !strings.HasPrefix(l.text, "[") {
				text = l.text
			}
			if parts := inline.Spans(text); len(parts) > 0 && parts[0].Code {
				lines = append(lines, line{text: parts[0].Text, line: l.line})
			}
		}
	default:
		return
	}
	for _, l := range lines {
		if likeCommand.MatchString(l.text) {
			p.offered.Add(Offered{File: p.file, Line: l.line, Run: l.text})
		}
	}
}

// commandLines returns the commands in a block of code, one for each line; those that go on in the next line are put together. There are
// none in a block that is more than a list of commands.
func commandLines(b *block) []line {
	var list []line
	at, goesOn := b.line, false
	for text := range strings.Lines(b.text) {
		at++
		text = strings.TrimPrefix(strings.TrimSpace(text), "$ ")
		if !goesOn && (text == "" || strings.HasPrefix(text, "#")) {
			continue
		}
		if strings.Contains(text, "<<") || strings.HasSuffix(text, "{") || strings.HasSuffix(text, "do") || strings.HasSuffix(text, "then") {
			return nil
		}
		rest, more := strings.CutSuffix(text, `\`)
		rest = strings.TrimSpace(rest)
		if goesOn {
			list[len(list)-1].text += " " + rest
		} else {
			list = append(list, line{text: rest, line: at})
		}
		goesOn = more
	}
	return list
}

// Count counts the headings and boxes of a plan's file, but for those in blocks of code, of which it names the headings of tasks.
func (p *Plan) Count(file string, src []byte) {
	marks, coded := outline.Marks(string(src))
	for _, m := range marks {
		if m.Level < outline.Bold {
			p.Headings++
		}
		if m.Box {
			p.Boxes++
		}
	}
	for _, line := range coded {
		p.Told = append(p.Told, Told{File: file, Line: line, Why: "this heading is in a block of code, so it is not a task"})
	}
}

// Offers are commands that a plan names, each once.
type Offers []Offered

// Add adds a command.
func (list *Offers) Add(more Offered) {
	if !slices.ContainsFunc(*list, func(o Offered) bool { return o.Run == more.Run }) && len(*list) < mostOffered {
		*list = append(*list, more)
	}
}

// AddFrom adds the commands that some texts in a line call for.
func (list *Offers) AddFrom(file string, line int, texts ...string) {
	for _, run := range inline.CommandsIn(strings.Join(texts, "\n")) {
		list.Add(Offered{File: file, Line: line, Run: run})
	}
}
