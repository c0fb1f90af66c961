package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"relay/epic/slowtest"
)

// Every answer must be git's own, whoever of the two gave it, and go-git must answer where it is known to.
func TestAnswersAreGits(t *testing.T) {
	t.Parallel()
	for _, r := range repositories() {
		t.Run(r.name, func(t *testing.T) {
			slowtest.OneIn(t, 5)
			t.Parallel()
			dir := r.make(t)
			g, err := Open(t.Context(), filepath.Join(dir, "."))
			if err != nil {
				t.Fatal(err)
			}
			checkHead(t, g, r)
			checkLog(t, g)
			checkFacts(t, g)
			checkNames(t, g)
		})
	}
}

func checkHead(t *testing.T, g *Repo, r repo) {
	t.Helper()
	want, err := tryGit(t.Context(), g.Root(), "rev-parse", "--verify", "-q", "HEAD")
	if err != nil {
		want = ""
	}
	want = strings.TrimSpace(want)
	if got, err := g.Head(t.Context()); got != want || err != nil {
		t.Errorf("Head() = %q, %v, want %q", got, err, want)
	}
	fast, err := g.fast.ref("HEAD")
	if r.refs != (err == nil) {
		t.Errorf("go-git answers HEAD: %v, want it to: %v", err, r.refs)
	}
	if err == nil && fast != want {
		t.Errorf("go-git says HEAD is %q, want %q", fast, want)
	}
	slow := *g
	slow.fast = fast0()
	if got, err := slow.Head(t.Context()); got != want || err != nil {
		t.Errorf("Head() by the git program = %q, %v, want %q", got, err, want)
	}

	branch, err := tryGit(t.Context(), g.Root(), "symbolic-ref", "-q", "--short", "HEAD")
	if err != nil {
		branch = ""
	}
	for _, one := range []*Repo{g, &slow} {
		checkStanding(t, one, want)
		if got, err := one.Branch(t.Context()); got != strings.TrimSpace(branch) || err != nil {
			t.Errorf("Branch() = %q, %v, want %q", got, err, branch)
		}
		if got, err := one.Ref(t.Context(), "refs/heads/nowhere"); got != "" || err != nil {
			t.Errorf("Ref(nowhere) = %q, %v, want none", got, err)
		}
	}
}

// checkStanding asks for the commit of HEAD and its tree.
func checkStanding(t *testing.T, g *Repo, head string) {
	t.Helper()
	at, err := g.HeadCommit(t.Context())
	if (err == nil) != (head != "") || at != head {
		t.Errorf("Standing() = %q, %v, want %q", at, err, head)
	}
	if head == "" {
		return
	}
	want := strings.TrimSpace(git(t, g.Root(), "rev-parse", "HEAD^{tree}"))
	if got, err := g.Tree(t.Context(), head); got != want || err != nil {
		t.Errorf("Tree(%s) = %q, %v, want %q", head, got, err, want)
	}
}

// fast0 is a fast path that never answers.
func fast0() fast { return fast{gitDir: os.DevNull, commonDir: os.DevNull} }

func checkLog(t *testing.T, g *Repo) {
	t.Helper()
	head, err := g.Head(t.Context())
	if err != nil || head == "" {
		return
	}
	var want []string
	for rec := range strings.SplitSeq(git(t, g.Root(), "log", "-n", "20", "--format=%H%x01%ct%x01%s%x02"), "\x02\n") {
		if i := strings.LastIndexByte(rec, 1) + 1; rec != "" {
			want = append(want, rec[:min(len(rec), i+subjectBytes)])
		}
	}
	show := func(log []Commit) (lines []string) {
		for _, c := range log {
			lines = append(lines, strings.Join([]string{c.Hash, strconv.FormatInt(c.When.Unix(), 10), c.Subject}, "\x01"))
		}
		return lines
	}
	slow, err := g.log(t.Context(), head, 20)
	if err != nil || !slices.Equal(show(slow), want) {
		t.Errorf("log by the git program = %q, %v, want %q", show(slow), err, want)
	}
}

// oracle reads the other porcelain format, which has nothing in common with ours but the letters.
func oracle(t *testing.T, root string, options ...string) []Change {
	t.Helper()
	out := git(t, root, append([]string{"status", "--porcelain=v1", "-z"}, options...)...)
	var all []Change
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i < len(fields) && len(fields[i]) > 3; i++ {
		c := Change{Code: fields[i][:2], Path: fields[i][3:]}
		if c.Code[0] == 'R' || c.Code[0] == 'C' {
			i++
			c.From = fields[i]
		}
		all = append(all, c)
	}
	return all
}

func checkFacts(t *testing.T, g *Repo) {
	t.Helper()
	facts, err := g.Facts(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if want := oracle(t, g.Root()); !sameChanges(facts.Changes, want) {
		t.Errorf("Facts().Changes = %q, want %q", facts.Changes, want)
	}
	all, err := g.Changes(t.Context())
	if want := oracle(t, g.Root(), "--untracked-files=all"); err != nil || !sameChanges(all, want) {
		t.Errorf("Changes() = %q, %v, want %q", all, err, want)
	}
	unmerged := git(t, g.Root(), "ls-files", "-u") != ""
	if facts.Unmerged != unmerged {
		t.Errorf("Facts().Unmerged = %v, want %v", facts.Unmerged, unmerged)
	}
	head, _ := g.Head(t.Context())
	branch, _ := g.Branch(t.Context())
	if facts.Head != head || facts.Branch != branch {
		t.Errorf("Facts() is at %q on %q, want %q on %q", facts.Head, facts.Branch, head, branch)
	}
	if head != "" && (len(facts.Recent) == 0 || facts.Recent[0].Hash != head) {
		t.Errorf("Facts().Recent = %+v, want HEAD first", facts.Recent)
	}
}

func sameChanges(a, b []Change) bool {
	order := func(x, y Change) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) }
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortFunc(a, order)
	slices.SortFunc(b, order)
	return slices.Equal(a, b)
}

func checkNames(t *testing.T, g *Repo) {
	t.Helper()
	head, err := g.Head(t.Context())
	if err != nil || head == "" {
		return
	}
	names, err := g.Names(t.Context(), "", head)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range names {
		if c.Code != "A" {
			t.Errorf("Names from nothing: %q has code %q, want A", c.Path, c.Code)
		}
		got = append(got, c.Path)
	}
	want := strings.Split(strings.TrimSuffix(git(t, g.Root(), "ls-tree", "-r", "-z", "--name-only", "HEAD"), "\x00"), "\x00")
	if len(want) == 1 && want[0] == "" {
		want = nil
	}
	if !slices.Equal(got, want) {
		t.Errorf("Names from nothing = %q, want %q", got, want)
	}
}

func TestNamesStatPatch(t *testing.T) {
	t.Parallel()
	dir := normal(t)
	base := strings.TrimSpace(git(t, dir, "rev-parse", "HEAD"))
	git(t, dir, "mv", "moved.txt", "two\nlines.txt")
	git(t, dir, "rm", "-q", "gone.txt")
	write(t, dir, "edited.txt", "x\n")
	write(t, dir, "blob", "\x00\x01binary")
	commit(t, dir, "everything")
	// What a person's taste, or an agent, may have set must not show.
	for _, kv := range []string{"diff.external=false", "diff.noprefix=true", "color.ui=always", "diff.renames=false", "core.quotePath=false"} {
		key, value, _ := strings.Cut(kv, "=")
		git(t, dir, "config", key, value)
	}
	g, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.Names(t.Context(), base, "HEAD")
	for i := range got { // which file it is
		if got[i].Blob == "" || (got[i].Code == "D") != (strings.Trim(got[i].Blob, "0") == "") {
			t.Errorf("%q", got[i])
		}
		got[i].Blob = ""
	}
	want := []Change{{Code: "A", Path: "blob"}, {Code: "M", Path: "edited.txt"}, {Code: "D", Path: "gone.txt"}, {Code: "R", Path: "two\nlines.txt", From: "moved.txt"}}
	if err != nil || !sameChanges(got, want) {
		t.Errorf("Names() = %q, %v, want %q", got, err, want)
	}
	stat, err := g.Stat(t.Context(), base, "HEAD")
	if err != nil || !strings.Contains(stat, "4 files changed") || strings.Contains(stat, "\x1b") {
		t.Errorf("Stat() = %q, %v", stat, err)
	}
	again, lines, err := g.StatLines(t.Context(), base, "HEAD", 3)
	if err != nil || again != stat || len(lines) != 3 || lines["blob"] != (Lines{}) || lines["edited.txt"].Added != 1 || lines["gone.txt"].Deleted == 0 {
		t.Errorf("StatLines() = %q, %v, %v", again, lines, err)
	}
	_, lines, err = g.StatLines(t.Context(), base, "HEAD", 100)
	if _, renamed := lines["two\nlines.txt"]; err != nil || !renamed || len(lines) != 4 {
		t.Errorf("StatLines() = %v, %v", lines, err)
	}
	var patch strings.Builder
	if err := g.Patch(t.Context(), base, "HEAD", &patch, 1<<20); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "config", "--unset", "diff.noprefix")
	applied := filepath.Join(t.TempDir(), "again")
	git(t, dir, "worktree", "add", "-q", "--detach", applied, base)
	if _, err := Run(t.Context(), Call{Dir: applied, Args: []string{"apply", "--index", "-"}, Stdin: strings.NewReader(patch.String()), Writes: true}); err != nil {
		t.Fatalf("the patch does not apply: %v\n%s", err, patch.String())
	}
	if got, want := git(t, applied, "write-tree"), git(t, dir, "rev-parse", "HEAD^{tree}"); got != want {
		t.Errorf("the patch makes tree %s, want %s", got, want)
	}
}

func TestRefusesOptionsAsCommits(t *testing.T) {
	t.Parallel()
	dir := normal(t)
	g, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, evil := range []string{"", "--output=x", "-p", "HEAD..HEAD", "HEAD --output=x"} {
		if _, err := g.Names(t.Context(), "HEAD", evil); err == nil {
			t.Errorf("Names(HEAD, %q): no error", evil)
		}
		if _, err := g.Ref(t.Context(), evil); err == nil {
			t.Errorf("Ref(%q): no error", evil)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a commit was read as an option")
	}
}

// What an agent puts in the place of git's files must not hang or crash relay; git itself is stopped in time.
func TestFastPathReadsOnlyOrdinaryFiles(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, content string }{
		{"endless config", ".git/config", strings.Repeat("# x\n", configFile)},
		{"huge reference", ".git/refs/heads/main", strings.Repeat("0", refFile+1)},
		{"reference loop", ".git/refs/heads/main", "ref: refs/heads/main\n"},
		{"reference outside", ".git/HEAD", "ref: ../../etc/passwd\n"},
		{"garbage", ".git/HEAD", "\x00\xff"},
		{"empty", ".git/HEAD", ""},
		{"folder", ".git/refs/heads/main/x", "x"},
		{"bad packed references", ".git/packed-refs", "\x00 what\n^\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := normal(t)
			if tt.name == "folder" || tt.name == "bad packed references" {
				_ = os.Remove(filepath.Join(dir, ".git", "refs", "heads", "main"))
			}
			write(t, dir, tt.file, tt.content)
			f := fast{gitDir: filepath.Join(dir, ".git"), commonDir: filepath.Join(dir, ".git")}
			if hash, err := f.ref("HEAD"); err == nil {
				t.Errorf("HEAD = %q, want it left to git", hash)
			}
		})
	}
}

func TestOpenGitRefuses(t *testing.T) {
	t.Parallel()
	bare := t.TempDir()
	git(t, bare, "init", "-q", "--bare")
	broken := t.TempDir()
	write(t, broken, ".git", "gitdir: /nowhere\n")
	var gitErr *Error
	if _, err := Open(t.Context(), bare); !errors.Is(err, ErrBare) {
		t.Errorf("bare: %v, want ErrBare", err)
	}
	if _, err := Open(t.Context(), filepath.Join(normal(t), ".git")); !errors.Is(err, ErrBare) {
		t.Errorf("inside .git: %v, want ErrBare", err)
	}
	if _, err := Open(t.Context(), t.TempDir()); !errors.Is(err, ErrNoRepository) {
		t.Errorf("no repository: %v, want ErrNoRepository", err)
	}
	left := t.TempDir()
	if err := os.MkdirAll(filepath.Join(left, ".git"), 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), left); !errors.Is(err, ErrNoRepository) {
		t.Errorf("an empty .git: %v, want ErrNoRepository", err)
	}
	if _, err := Open(t.Context(), broken); !errors.As(err, &gitErr) || errors.Is(err, ErrNoRepository) {
		t.Errorf("broken .git: %v, want git's own reason", err)
	}
}

func TestOpenGitFindsTheRoot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, dir, "a/b/c", "x")
	g, err := Open(t.Context(), filepath.Join(dir, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	root, _ := filepath.EvalSymlinks(dir)
	if g.Root() != root || g.GitDir() != filepath.Join(root, ".git") || g.CommonDir() != g.GitDir() {
		t.Errorf("OpenGit found %q, %q, %q, want them in %q", g.Root(), g.GitDir(), g.CommonDir(), root)
	}
}

// A worktree below the user's checkout that lost its .git must not be taken for the user's checkout.
func TestLostWorktreeIsNotItsParent(t *testing.T) {
	t.Parallel()
	dir := normal(t)
	linked := filepath.Join(dir, "trees", "T1")
	git(t, dir, "worktree", "add", "-q", "--detach", linked)
	g, err := Open(t.Context(), linked)
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(linked, ".git"))
	write(t, linked, "kept.txt", "work\n")
	changes, err := g.Changes(t.Context())
	if want := []Change{{Code: " M", Path: "kept.txt"}}; err != nil || !sameChanges(changes, want) {
		t.Errorf("without .git: %q, %v, want %q", changes, err, want)
	}
	_ = os.RemoveAll(g.GitDir())
	if changes, err := g.Changes(t.Context()); err == nil {
		t.Errorf("without its git folder: %q, want an error", changes)
	}
}
