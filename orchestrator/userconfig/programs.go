package userconfig

import (
	"os"
	"path/filepath"
)

// maxPrograms bounds those of one link that are held.
const maxPrograms = 2000

// binFolders are where package managers put programs: in node_modules, and in a virtual environment of Python's. A folder of
// programs that has not its sign beside it may be what a build makes, which is every agent's to change.
var binFolders = []struct{ name, sign string }{{".bin", "."}, {"bin", "pyvenv.cfg"}}

// programsIn returns the programs behind a link of the worktrees: the file that it is, or what stands in its folders for
// programs, and where links lead to there.
func programsIn(link string) (programs []watchedFile) {
	add := func(path, pack string) {
		programs = append(programs, watchedFile{path: path, program: true, pack: pack})
	}
	if info, err := os.Stat(link); err == nil && info.Mode().IsRegular() {
		if info.Mode()&0o111 != 0 {
			add(link, "")
		}
		return programs
	}
	for _, bin := range binFolders {
		if _, err := os.Stat(filepath.Join(link, bin.sign)); err != nil {
			continue
		}
		folder := filepath.Join(link, bin.name)
		entries, _ := os.ReadDir(folder) // most have none
		for _, e := range entries[:min(len(entries), maxPrograms)] {
			path := filepath.Join(folder, e.Name())
			if e.IsDir() {
				continue
			}
			target, err := filepath.EvalSymlinks(path)
			inside := err == nil && target != path && within(link, target)
			pack := ""
			if inside {
				pack = packageOf(link, target)
			}
			add(path, pack)
			if inside {
				add(target, pack)
			}
		}
	}
	return programs
}

// packageOf returns the file that says which version of a package a program belongs to, or "".
func packageOf(link, program string) string {
	for at := filepath.Dir(program); within(link, at); at = filepath.Dir(at) {
		name := filepath.Join(at, "package.json")
		if _, err := os.Lstat(name); err == nil {
			return name
		}
	}
	return ""
}

func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel) && rel != "."
}
