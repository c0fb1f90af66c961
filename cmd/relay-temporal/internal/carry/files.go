package carry

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
	repo         *git.Repo
	ref, message string
	parents      []string
	files        bytes.Buffer // what fast-import gets of them
}

func (w *writer) add(name string, text []byte) {
	fmt.Fprintf(&w.files, "M 100644 inline %s\ndata %d\n%s\n", strconv.Quote(name), len(text), text)
}

// copy adds a file without secrets, which may be large.
func (w *writer) copy(ctx context.Context, name, path string, r *secrets.Redactor) error {
	from, err := runners.OpenRegular(path)
	if err != nil {
		return err
	}
	defer from.Close()
	clean, to := io.Pipe()
	defer clean.Close()
	go func() {
		stream := r.Stream(to)
		_, err := io.Copy(stream, from)
		_ = to.CloseWithError(errors.Join(err, stream.Flush()))
	}()
	call := git.Writing("hash-object", "-w", "--stdin")
	call.Stdin = clean
	hash, err := w.repo.Run(ctx, call)
	fmt.Fprintf(&w.files, "M 100644 %s %s\n", bytes.TrimSpace(hash), strconv.Quote(name))
	return err
}

// commit makes the commit and puts the ref on it.
func (w *writer) commit(ctx context.Context) (commit string, err error) {
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
	call := git.Writing("fast-import", "--quiet", "--force", "--done", "--date-format=raw")
	call.Stdin = io.MultiReader(&head, &w.files, strings.NewReader("\ndone\n"))
	if _, err := w.repo.Run(ctx, call); err != nil {
		return "", err
	}
	return w.repo.Ref(ctx, w.ref)
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
	err := eachFile(ctx, repo, commit, below, func(name string, from io.Reader) (err error) {
		files[name], err = io.ReadAll(from)
		return err
	})
	return files, err
}

// eachFile calls visit with the files of a commit below a folder.
func eachFile(
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
