package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"relay/epic/pattern"
)

// DiskFault reports whether an error is one of the disk: it concerns whoever writes next as well.
func DiskFault(err error) bool {
	faults := []error{syscall.ENOSPC, syscall.EROFS, syscall.EIO}
	gitErr, said := errors.AsType[*Error](err)
	return slices.ContainsFunc(faults, func(no error) bool { return errors.Is(err, no) }) || said && diskWords.MatchString(gitErr.Stderr)
}

var diskWords = pattern.New(`No space left|Out of diskspace|quota exceeded|Read-only file system|Input/output error`)

// AwaitRoom waits for a few seconds if err is a [DiskFault], and reports whether it is one: relay may be stopping who filled the disk.
func AwaitRoom(ctx context.Context, err error) bool {
	if !DiskFault(err) {
		return false
	}
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Second):
	}
	return true
}

// Whole reports whether git has all files of a commit.
func Whole(ctx context.Context, repo *Repo, commit string) bool {
	list, err := repo.Run(ctx, Call{
		Limit: MaxPrinted, Args: []string{"ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit},
	})
	if err != nil {
		return false
	}
	var hashes strings.Builder
	for entry := range strings.SplitSeq(string(list), "\x00") { // MODE blob HASH<tab>PATH
		if fields := strings.Fields(entry); len(fields) > 2 && fields[1] == "blob" {
			hashes.WriteString(fields[2] + "\n")
		}
	}
	out, err := repo.Run(ctx, Call{
		Limit: MaxPrinted, Stdin: strings.NewReader(hashes.String()), Args: []string{"cat-file", "--batch-check"},
	})
	return err == nil && !strings.Contains(string(out), "missing\n")
}

// DropEmpty removes loose objects that have no content. git takes them for written, and would not write them again.
func DropEmpty(repo *Repo) {
	objects := filepath.Join(repo.CommonDir(), "objects")
	folders, _ := os.ReadDir(objects) // what cannot be looked at stays
	for _, folder := range folders {
		if len(folder.Name()) != 2 || !folder.IsDir() {
			continue
		}
		files, _ := os.ReadDir(filepath.Join(objects, folder.Name()))
		for _, f := range files {
			if info, err := f.Info(); err == nil && info.Mode().IsRegular() && info.Size() == 0 && !strings.HasPrefix(f.Name(), "tmp_") {
				if err := os.Remove(filepath.Join(objects, folder.Name(), f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return
				}
			}
		}
	}
}

// Has reports whether a commit is in the repository, as far as git can be asked.
func Has(ctx context.Context, repo *Repo, commit string) bool {
	_, err := repo.Run(ctx, Call{Args: []string{"cat-file", "-e", commit + "^{commit}"}})
	return err == nil || Unasked(err) != nil
}

// Contains reports whether commit is part of head's history.
func Contains(ctx context.Context, repo *Repo, head, commit string) (bool, error) {
	_, err := repo.Run(ctx, Writing("merge-base", "--is-ancestor", commit, head))
	if ExitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// Unasked keeps only the error of a question that git could not be asked: it has no answer.
func Unasked(err error) error {
	if errors.Is(err, ErrNoRoom) {
		return err
	}
	return nil
}

// IsHash reports whether a text is the full name of an object, SHA-1 or SHA-256.
func IsHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
