package provision

import (
	"path/filepath"
	"slices"
	"strings"

	"relay/epic/pattern"
)

// heading and setting match the lines of a git configuration that git writes itself. Others, such as those that go on in the next line,
// are not its notes.
var (
	heading = pattern.New(`^\[(\w+)( "[^"\\\]]*")?\]$`)
	setting = pattern.New(`^([A-Za-z][\w-]*)\s*=\s*([^\\"]*)$`)
)

// leads are the settings of a remote that say what git sends and fetches, where and how.
var leads = []string{"url", "pushurl", "fetch", "push", "mirror", "proxy", "vcs", "receivepack", "uploadpack"}

// onlyNotes reports whether two contents of a git configuration differ only in notes that programs make in passing: what branches follow,
// remotes that were added, active submodules, and the folder of hooks in the checkout that package managers set.
func onlyNotes(was, now string) bool {
	before := strings.ToLower(was)
	return withoutNotes(was, before) == withoutNotes(now, before)
}

// withoutNotes returns a configuration without its notes. A remote that was there before, in lower case, is not one.
func withoutNotes(content, was string) string {
	var rest strings.Builder
	section, known, goesOn := "", false, false
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		isNote := false
		if head := heading.FindStringSubmatch(line); head != nil {
			section, known = strings.ToLower(head[1]), strings.Contains(was, strings.ToLower(line))
			isNote = slices.Contains([]string{"branch", "submodule", "gc", "maintenance", "lfs"}, section) ||
				section == "remote" && head[2] != "" && !known
		} else if strings.HasPrefix(line, "[") {
			section = ""
		} else if set := setting.FindStringSubmatch(line); set != nil {
			isNote = noted(section, strings.ToLower(set[1]), set[2], known)
		}
		if !isNote || goesOn {
			rest.WriteString(line + "\n")
		}
		goesOn = strings.HasSuffix(line, `\`)
	}
	return rest.String()
}

// noted reports whether a setting is a note.
func noted(section, key, value string, known bool) bool {
	switch section {
	case "branch":
		return key != "pushremote"
	case "remote":
		return key != "pushdefault" && (!known || !slices.Contains(leads, key))
	case "core":
		return key == "hookspath" && filepath.IsLocal(filepath.FromSlash(value))
	case "submodule":
		return key != "update" // it can be a command
	case "lfs":
		return key == "access" || key == "repositoryformatversion"
	case "gc":
		return key == "auto"
	}
	return section == "maintenance"
}
