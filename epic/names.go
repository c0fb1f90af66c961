package epic

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"relay/epic/pattern"
)

var (
	epicID = pattern.New(`^[a-z0-9][a-z0-9-]*$`)
	taskID = pattern.New(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)
	word   = pattern.New(`^[A-Za-z0-9_./-]+$`)
)

func isWord(text string) bool { return len(text) <= 60 && word.MatchString(text) }

// epicIDFault reports what is wrong with an epic's id, and how to put it right; both empty when nothing is.
func epicIDFault(id string) (fault, hint string) {
	switch {
	case id == "":
		return "id is missing", "add id: YYYYMMDD-short-name"
	case len(id) > 64 || !epicID.MatchString(id):
		return fmt.Sprintf("id %s is not allowed", Quoted(id)),
			"use YYYYMMDD-short-name: lower case letters, digits and -, at most 64 characters"
	}
	return "", ""
}

// taskIDFault is epicIDFault for the id of a task, which becomes a folder and part of a branch name.
func taskIDFault(id string) (fault, hint string) {
	if taskID.MatchString(id) {
		return "", ""
	}
	return fmt.Sprintf("task id %s is not allowed", Quoted(id)), "start with a letter, then letters, digits, _ or -, at most 32 characters, as in T1"
}

// pathFault reports what is wrong with a path or glob that has to stay inside the repository.
func pathFault(p string) (fault, hint string) {
	slashed := strings.ReplaceAll(p, `\`, "/")
	switch {
	case strings.TrimSpace(p) == "":
		return "path is empty", "name a file or a glob, or take the entry out"
	case strings.ContainsFunc(p, unicode.IsControl):
		return fmt.Sprintf("path %s contains a control character", Quoted(p)), "take the character out"
	case strings.HasPrefix(slashed, "/") || len(p) >= 2 && p[1] == ':' && isLetter(p[0]):
		return fmt.Sprintf("path %s is absolute", Quoted(p)), "write it relative to the root of the repository"
	case hasParent(slashed):
		return fmt.Sprintf("path %s leaves the repository", Quoted(p)), "take the .. out"
	case strayBackslash(p):
		return fmt.Sprintf(`path %s contains \`, Quoted(p)), "write paths with /"
	case !doublestar.ValidatePattern(p):
		return fmt.Sprintf("path %s is not a well-formed glob", Quoted(p)), `close the bracket, or write \[ or \{ when it belongs to the name`
	}
	return "", ""
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// hasParent tells whether a path has a .. element, also one that a glob's alternatives would produce.
func hasParent(slashed string) bool {
	if !strings.Contains(slashed, "..") {
		return false
	}
	elements := strings.FieldsFunc(slashed, func(r rune) bool { return r == '/' || r == '{' || r == '}' || r == ',' })
	return slices.Contains(elements, "..")
}

// strayBackslash finds a backslash that escapes nothing: someone wrote a Windows path, which as a glob would match another name.
func strayBackslash(p string) bool {
	for i := 0; i < len(p); i++ {
		if p[i] != '\\' {
			continue
		}
		if i+1 == len(p) || !strings.ContainsRune(`*?[]{}\-^!,`, rune(p[i+1])) {
			return true
		}
		i++
	}
	return false
}

// Quoted shows a value in a message: escaped, so that it cannot drive a terminal, and short.
func Quoted(s string) string {
	const most = 60
	if r := []rune(s[:min(len(s), 4*most)]); len(r) > most {
		return fmt.Sprintf("%q…", string(r[:most]))
	}
	return fmt.Sprintf("%q", s)
}

// Relabelled reports whether one title is the other with a label in front: Phase 2: Store the times, and Store the times.
func Relabelled(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	label, ok := strings.CutSuffix(a, b)
	return ok && len(b) > 3 && len(label) < 40 && strings.ContainsAny(label, "0123456789:-–—.")
}
