package carry

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"relay/orchestrator/secrets"
	"relay/reanchor/git"
	"relay/runners"
)

// writer makes a commit of files, in one run of git fast-import.
type writer struct {
	ref, message string
	parents      []string
	files        bytes.Buffer // of small files
	large        *os.File     // of those that add has copied; nil: none
}

// sizeFormat has one length for all sizes.
const sizeFormat = "%020d\n"

// entry is how fast-import gets a file.
func entry(to io.Writer, name string, size int64) error {
	_, err := fmt.Fprintf(to, "M 100644 inline %s\ndata "+sizeFormat, strconv.Quote(name), size)
	return err
}

func (w *writer) add(name string, text []byte) {
	_ = entry(&w.files, name, int64(len(text)))
	w.files.Write(text)
	w.files.WriteByte('\n')
}

// copy adds a file without secrets. Its size, which stands before it, is known when it is written.
func (w *writer) copy(name, path string, r *secrets.Redactor) error {
	from, err := runners.OpenRegular(path)
	if err != nil {
		return err
	}
	defer from.Close()
	if w.large == nil {
		if w.large, err = os.CreateTemp("", "relay-carry-"); err != nil {
			return err
		}
	}
	err = entry(w.large, name, 0)
	begin, failed := w.large.Seek(0, io.SeekCurrent)
	stream := r.Stream(w.large)
	_, wrong := io.Copy(stream, from)
	err = errors.Join(err, failed, wrong, stream.Flush())
	end, failed := w.large.Seek(0, io.SeekCurrent)
	size := fmt.Sprintf(sizeFormat, end-begin)
	_, wrong = w.large.WriteAt([]byte(size), begin-int64(len(size)))
	_, more := w.large.WriteString("\n")
	return errors.Join(err, failed, wrong, more)
}

// close forgets the files.
func (w *writer) close() {
	if w.large != nil {
		_ = errors.Join(w.large.Close(), os.Remove(w.large.Name()))
	}
}

// commit makes the commit and puts the ref on it.
func (w *writer) commit(ctx context.Context, repo *git.Repo) (commit string, err error) {
	defer w.close()
	var head bytes.Buffer
	fmt.Fprintf(&head, "commit %s\ncommitter relay <relay@localhost> %d +0000\ndata %d\n%s\n", w.ref, time.Now().Unix(), len(w.message), w.message)
	seen := map[string]bool{"": true}
	verb := "from"
	for _, parent := range w.parents {
		if !seen[parent] {
			fmt.Fprintf(&head, "%s %s\n", verb, parent)
			seen[parent], verb = true, "merge"
		}
	}
	head.WriteString("deleteall\n")
	parts := []io.Reader{&head, &w.files}
	if w.large != nil {
		if _, err := w.large.Seek(0, io.SeekStart); err != nil {
			return "", err
		}
		parts = append(parts, w.large)
	}
	call := git.Writing("fast-import", "--quiet", "--force", "--done", "--date-format=raw")
	call.Stdin = io.MultiReader(append(parts, strings.NewReader("\ndone\n"))...)
	if _, err := repo.Run(ctx, call); err != nil {
		return "", err
	}
	return repo.Ref(ctx, w.ref)
}

// maxFiles bounds all files of a commit that is read, in bytes.
const maxFiles = 512 << 20

// blob is a file of a commit.
type blob struct {
	name, hash string
	size       int64
}

// list returns the files of a commit below a folder. It refuses all but plain files, and names that lead elsewhere.
func list(ctx context.Context, repo *git.Repo, commit, below string) (list []blob, err error) {
	out, err := repo.Run(ctx, git.Call{Args: []string{"ls-tree", "-r", "-z", "-l", "--full-tree", commit}, Limit: git.MaxPrinted})
	if err != nil {
		return nil, err
	}
	left := int64(maxFiles)
	for row := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		what, name, _ := strings.Cut(row, "\t")
		f := strings.Fields(what)
		inner, ok := strings.CutPrefix(name, below)
		if len(f) != 4 || f[0] != "100644" || !filepath.IsLocal(name) || strings.ContainsAny(name, "\\\x00") {
			return nil, fmt.Errorf("%s of the commit %s must be a plain file", name, commit)
		}
		size, err := strconv.ParseInt(f[3], 10, 64)
		if left -= size; err != nil || left < 0 {
			return nil, fmt.Errorf("the files of the commit %s are too large", commit)
		}
		if ok {
			list = append(list, blob{inner, f[2], size})
		}
	}
	return list, nil
}

// read returns the files of a commit below a folder, by name.
func read(ctx context.Context, repo *git.Repo, commit, below string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := each(ctx, repo, commit, below, func(name string, from io.Reader) (err error) {
		files[name], err = io.ReadAll(from)
		return err
	})
	return files, err
}

// each calls visit with the files of a commit below a folder.
func each(
	ctx context.Context, repo *git.Repo, commit, below string, visit func(name string, from io.Reader) error,
) error {
	blobs, err := list(ctx, repo, commit, below)
	if err != nil || len(blobs) == 0 {
		return err
	}
	var wanted strings.Builder
	for _, b := range blobs {
		wanted.WriteString(b.hash + "\n")
	}
	r, w := io.Pipe()
	go func() {
		_, err := repo.Run(ctx, git.Call{Args: []string{"cat-file", "--batch"}, Stdin: strings.NewReader(wanted.String()), Stdout: w})
		_ = w.CloseWithError(errors.Join(err, io.EOF))
	}()
	defer r.Close()
	from := bufio.NewReader(r)
	for _, b := range blobs {
		if _, err := from.ReadString('\n'); err != nil {
			return err
		}
		one := &io.LimitedReader{R: from, N: b.size}
		if err := visit(b.name, one); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, from, one.N+1); err != nil {
			return err
		}
	}
	return nil
}
