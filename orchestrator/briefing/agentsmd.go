package briefing

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// LearningsFile is the file that agents read before they work.
const LearningsFile = "AGENTS.md"

const (
	heading = "## Learned by relay"
	intro   = "Reported by agents of at least three tasks, and not verified."
)

// Folder returns the deepest folder that holds all files of the learning's tasks, with slashes; "." is the top of the repository.
func (g *LearningGroup) Folder() string {
	common := ""
	for _, f := range g.Files {
		dir := folderOf(f)
		common = cmp.Or(common, dir)
		for common != "." && dir != common && !strings.HasPrefix(dir, common+"/") {
			common = path.Dir(common)
		}
	}
	return cmp.Or(common, ".")
}

// folderOf returns the folder of a file, or the one that holds everything a glob can cover.
func folderOf(file string) string {
	if !filepath.IsLocal(filepath.FromSlash(file)) || strings.Contains(file, `\`) {
		return "."
	}
	if i := strings.IndexAny(file, "*?[{"); i >= 0 {
		file = file[:i] + "x" // of a segment that can have any name
	}
	return path.Dir(file)
}

// Bullet returns a learning as one line of a markdown list, in which it can begin nothing but text: no heading, list, fence, HTML,
// image or import.
func Bullet(text string) string {
	var b strings.Builder
	b.WriteString("- ")
	text = line(text)
	number := strings.TrimLeft(text, "0123456789")
	digits := len(text) - len(number)
	for i, r := range text {
		first := i == 0 && strings.ContainsRune("#-+*>=|_:~", r) || i == 0 && strings.HasPrefix(text, "```")
		ordered := i == digits && digits > 0 && (r == '.' || r == ')')
		importing := r == '@' && (i == 0 || !isWordByte(text[i-1]))
		if first || ordered || importing || strings.ContainsRune(`\<&[]`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// AmendLearnings adds a bullet for each learning that is worth it to the section of relay in an AGENTS.md, and makes the section when
// there is none. A learning that a list of the file has in any of its wordings stays out. It returns the text as it is when nothing is
// added.
func AmendLearnings(content string, groups []LearningGroup) (amended string, added []LearningGroup) {
	end := "\n"
	if strings.Contains(content, "\r\n") {
		end = "\r\n"
	}
	lines := strings.SplitAfter(content, "\n")
	there := map[string]bool{} // the entries of all lists, normal
	for _, l := range lines {
		if isBullet(l) {
			there[normal(l)] = true
		}
	}
	var fresh []string
	for _, g := range groups {
		if g.Worth() && !slices.ContainsFunc(g.wordings, func(w wording) bool { return there[w.normal] }) {
			added = append(added, g)
			bullet := Bullet(g.Text)
			there[normal(bullet)] = true
			fresh = append(fresh, bullet+end)
		}
	}
	if len(added) == 0 {
		return content, nil
	}
	at := sectionEnd(lines)
	if at < 0 {
		if content != "" {
			content = strings.TrimRight(content, "\r\n") + end + end
		}
		return content + heading + end + end + intro + end + end + strings.Join(fresh, ""), added
	}
	before := strings.Join(lines[:at], "")
	if !strings.HasSuffix(before, "\n") {
		before += end
	}
	if !isBullet(lines[at-1]) {
		before += end
	}
	return before + strings.Join(fresh, "") + strings.Join(lines[at:], ""), added
}

func isBullet(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ")
}

// sectionEnd returns the index behind the last line of relay's section that is not empty; -1 without a section. A line
// that looks like a heading within a fence does not count.
func sectionEnd(lines []string) int {
	end, inside, fence := -1, false, ""
	for i, l := range lines {
		l = strings.TrimRight(l, " \t\r\n")
		trimmed := strings.TrimLeft(l, " ")
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
		case l == heading && end < 0:
			inside = true
		case strings.HasPrefix(l, "# "), strings.HasPrefix(l, "## "):
			inside = false
		}
		if inside && l != "" {
			end = i + 1
		}
	}
	return end
}
