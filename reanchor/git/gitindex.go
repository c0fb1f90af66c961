package git

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// IndexTouched reports whether a file that an index lists may have changed below root since git wrote the index, or that this is not known.
func IndexTouched(root, file string) bool {
	data, err := os.ReadFile(file)
	var list index.Index
	if err != nil || index.NewDecoder(bytes.NewReader(data)).Decode(&list) != nil {
		return true
	}
	return slices.ContainsFunc(list.Entries, func(e *index.Entry) bool {
		if e.SkipWorktree || e.Mode == filemode.Submodule {
			return false
		}
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(e.Name)))
		return err != nil || !info.ModTime().Equal(e.ModifiedAt) || uint32(info.Size()) != e.Size
	})
}
