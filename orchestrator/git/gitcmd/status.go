package gitcmd

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// StatusAll returns the command that asks git for all that is not as in the commit.
func StatusAll() []string {
	return []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching", "--ignore-submodules=all"}
}

// ClosedFolders lists the folders, each with a slash at its end, that git complains of because it may not look into them.
func ClosedFolders(complaints string) (folders []string) {
	for line := range strings.Lines(complaints) {
		name, ok := strings.CutSuffix(strings.TrimSuffix(line, "\n"), ": Permission denied")
		if !ok {
			continue
		}
		if quoted, ok := strings.CutPrefix(name, "warning: could not open directory '"); ok {
			name = strings.TrimSuffix(strings.TrimSuffix(quoted, "'"), "/")
		} else {
			name = path.Dir(name) // of a file
		}
		if name != "." && filepath.IsLocal(filepath.FromSlash(name)) {
			folders = append(folders, name+"/")
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}
