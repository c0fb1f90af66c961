package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"relay/cmd/relay/internal/project"
)

// checkouts is how many a run has at most: each job one to work in and one to check in, or one for each reviewer, and one
// in which the work of several is proved before it lands.
func checkouts(jobs, reviewers int) int { return jobs*(1+max(1, reviewers)) + 1 }

// room says whether a disk takes something of a size besides what any night needs.
func room(what string, need, free uint64, unknown error) (state, text, fix string) {
	text = "room for " + what
	switch {
	case unknown != nil:
		return stateWarn, "it is not known whether there is " + text + ": " + unknown.Error(), ""
	case free < need+noSpace:
		return stateFail, "there is no " + text, "make room"
	case free < need+scarceSpace:
		return stateWarn, "there is hardly " + text, "make room"
	}
	return stateOK, text, ""
}

// copied looks whether the copy of .git that a run keeps finds room, where it is on another disk than .git is.
func (c *checkup) copied() {
	git, store := c.place.Git.GitDir(), c.place.BackupDir()
	if store == "" || git != c.place.Git.CommonDir() { // a linked worktree has no copy
		return
	}
	at := nearestFolder(store)
	if linkable(filepath.Join(git, "HEAD"), at) {
		return // files of .git are linked there, and take no room
	}
	free, err := project.FreeSpace(at)
	size, counting := folderSize(git)
	what := fmt.Sprintf("the copy of .git, %s, in %s", bytesText(size), at)
	state, text, fix := room(what, size, free, errors.Join(err, counting))
	if fix != "" {
		fix += ", or choose another disk with XDG_STATE_HOME"
	}
	c.add(state, "disk", text, fix)
}

// nearestFolder is the nearest folder above a path that is there already.
func nearestFolder(path string) string {
	for !project.Exists(path) && filepath.Dir(path) != path {
		path = filepath.Dir(path)
	}
	return path
}

// linkable reports whether a file can be linked into a folder, which it can on the same disk alone.
func linkable(file, folder string) bool {
	f, err := os.CreateTemp(folder, ".relay-check-*")
	if err != nil {
		return false
	}
	_ = f.Close()
	link := f.Name() + "-link"
	err = os.Link(file, link)
	_ = os.Remove(f.Name())
	_ = os.Remove(link)
	return err == nil
}

// folderSize is how much the files below a folder take.
func folderSize(folder string) (uint64, error) {
	var sum uint64
	err := filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += (uint64(info.Size()) + block - 1) / block * block
		}
		return err
	})
	return sum, err
}
