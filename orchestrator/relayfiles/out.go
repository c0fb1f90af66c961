package relayfiles

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"

	"relay/orchestrator/secrets"
	"relay/reanchor/git"
)

// Names of the folder, beside an agent's result, in which the agent of a turn has one for its own result, and of the hash of its name.
const (
	outFolder = "out"
	outFile   = "out.sha256"
)

// Out makes the folder in which the agent of a turn writes its result, with a name that others cannot guess, and returns the result's
// path there. If the agent has ended under a killed run, it finds that folder. Mark names the attempt. Collect puts the result in its
// place.
func Out(result, mark string, ended bool) (out string, err error) {
	if ended {
		return findOut(result, mark), nil
	}
	folder, name, hash := beside(result, outFolder), rand.Text(), beside(result, outFile)
	if err := errors.Join(git.RemoveTree(folder), git.RemoveTree(hash)); err != nil {
		return "", err
	}
	out = filepath.Join(folder, name, filepath.Base(result))
	return out, errors.Join(os.MkdirAll(filepath.Dir(out), 0o700), os.WriteFile(hash, []byte(hashOf(name, mark)), 0o600))
}

// findOut returns where the agent of a killed run was to write its result: in its place if relay has collected it.
func findOut(result, mark string) (out string) {
	hash, err := os.ReadFile(beside(result, outFile))
	if err != nil && !git.Exists(beside(result, outFolder)) {
		return result
	}
	names, _ := os.ReadDir(beside(result, outFolder))
	for _, name := range names {
		if hashOf(name.Name(), mark) == string(hash) {
			return filepath.Join(beside(result, outFolder), name.Name(), filepath.Base(result))
		}
	}
	return beside(result, outFolder) // no result
}

// Collect puts what an agent wrote as its result in its place, in place of what others have put there, and makes it private.
func Collect(s *secrets.Redactor, out, result string) error {
	if out != result {
		if err := git.RemoveTree(result); err != nil {
			return err
		}
		none := os.Rename(out, result)
		if err := git.RemoveTree(beside(result, outFolder)); err != nil {
			if none == nil { // the next run looks for it there
				err = errors.Join(err, os.Rename(result, out))
			}
			return err
		}
		if err := git.RemoveTree(beside(result, outFile)); err != nil {
			return err
		}
	}
	return MakePrivate(s, result)
}
