package command

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"relay/runners"
)

// Limits of what is looked at to find out which version of a program is installed.
const (
	manifestFolders = 4       // from the program's own upwards
	manifestBytes   = 1 << 20 // of a package.json
)

// InstalledVersion returns the version of a program by where it is installed, without starting it: by the package.json of the npm package
// that names it as its program, or by its path, as in share/claude/versions/2.1.329. "": neither says.
func InstalledVersion(program string) string {
	file, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}
	folder := filepath.Dir(file)
	for range manifestFolders {
		if v := manifestVersion(folder, file); v != "" {
			return v
		}
		folder = filepath.Dir(folder)
	}
	if filepath.Base(filepath.Dir(file)) == "versions" {
		return whole(filepath.Base(file))
	}
	for at := filepath.Dir(file); at != filepath.Dir(at); at = filepath.Dir(at) {
		if filepath.Base(filepath.Dir(filepath.Dir(at))) == "Cellar" { // Cellar/NAME/VERSION
			return whole(filepath.Base(at))
		}
	}
	return ""
}

// manifestVersion returns the version of the npm package in a folder, if file is one of its programs.
func manifestVersion(folder, file string) string {
	text, err := runners.ReadRegular(filepath.Join(folder, "package.json"), manifestBytes)
	var manifest struct {
		Version string          `json:"version"`
		Bin     json.RawMessage `json:"bin"` // a path, or paths by name
	}
	if err != nil || json.Unmarshal(text, &manifest) != nil {
		return ""
	}
	var one string
	named := map[string]string{}
	if json.Unmarshal(manifest.Bin, &one) == nil {
		named[""] = one
	} else if json.Unmarshal(manifest.Bin, &named) != nil {
		return ""
	}
	var programs []string
	for _, path := range named {
		if real, err := filepath.EvalSymlinks(filepath.Join(folder, filepath.FromSlash(path))); err == nil {
			programs = append(programs, real)
		}
	}
	if !slices.Contains(programs, file) {
		return ""
	}
	return whole(manifest.Version)
}

// whole returns a version number, or "" for any other text.
func whole(text string) string {
	if len(text) > 60 || versionPattern.FindString(text) != text {
		return ""
	}
	return text
}
