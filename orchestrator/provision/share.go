package provision

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"relay/epic/plaintext"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
)

// Auto is an entry of relay.worktree.share that stands for the folders with dependencies that are in the user's checkout.
const Auto = "auto"

// dependencies are folders and files that package managers make and that git ignores as a rule. Many programs find them in folders above,
// and so in the user's checkout as long as task checkouts lay below it.
var dependencies = []string{
	"node_modules", "bower_components", ".venv", "venv", "vendor", ".bundle", "deps", "Pods", ".yarn", ".pnp.cjs", ".pnp.loader.mjs",
	"go.work", "go.work.sum",
}

// Shared names the files that task checkouts get a copy of.
type Shared struct {
	Names []string // with slashes
	Files int
	Bytes int64
	// TooMuch says in words why Auto shares nothing, and what to set; "" : it shares all there is.
	TooMuch string
}

// String names what is copied because of Auto, with its size.
func (s Shared) String() string {
	return fmt.Sprintf("%s (%s in %s)", plaintext.Listed(s.Names), plaintext.Bytes(uint64(s.Bytes)), plaintext.Count(s.Files, "file"))
}

// Limits of what Auto copies.
type Limits struct {
	Slots int   // that there are at most at once
	Bytes int64 // for all of them
	Free  int64 // on their disk; a tenth of it at most
}

// perSlot is how many files are copied in about 20 seconds.
const perSlot = 200_000

// FindShared resolves the entries of relay.worktree.share in a checkout. Auto finds what is in no commit and ignored by git; nothing where
// set-up commands make it.
func FindShared(ctx context.Context, home *git.Repo, entries []string, setUp bool, most Limits) (s Shared, err error) {
	named := slices.DeleteFunc(slices.Clone(entries), func(name string) bool { return name == Auto })
	if len(named) < len(entries) && !setUp {
		found, err := ignoredDependencies(ctx, home)
		if err != nil {
			return s, err
		}
		s.Files, s.Bytes = sizeOf(home.Root(), found)
		if at := int64(most.Slots) * s.Bytes; at > min(most.Bytes, most.Free/10) || s.Files > perSlot {
			s.Names = found
			s.TooMuch = fmt.Sprintf("%s is too much for %s: name it in relay.worktree.share, or the command that installs it in relay.worktree.setup",
				s, plaintext.Count(most.Slots, "task checkout"))
			found = nil
		}
		s.Names = found
	}
	s.Names = append(s.Names, named...)
	s.Files, s.Bytes = sizeOf(home.Root(), s.Names)
	return s, nil
}

// ignoredDependencies lists the dependencies in a checkout that git ignores.
func ignoredDependencies(ctx context.Context, home *git.Repo) (found []string, err error) {
	out, err := home.Run(ctx, git.Call{
		Args: []string{"ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"}, Limit: git.MaxPrinted,
	})
	for name := range strings.SplitSeq(string(out), "\x00") {
		name = strings.TrimSuffix(name, "/")
		if slices.Contains(dependencies, path.Base(name)) || path.Base(path.Dir(name)) == ".yarn" {
			found = append(found, name)
		}
	}
	return found, err
}

// sizeOf counts files and adds up their bytes.
func sizeOf(root string, names []string) (files int, size int64) {
	for _, name := range names {
		_ = filepath.WalkDir(filepath.Join(root, filepath.FromSlash(name)), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil {
					files, size = files+1, size+info.Size()
				}
			}
			return nil // what cannot be read is not copied either
		})
	}
	return files, size
}

// pathsInside are the files of dependencies that name the folder they were made in: programs and shims, what leads Python to an
// editable project, and a workspace of Go.
var pathsInside = regexp.MustCompile(`(^|/)(bin|\.bin|Scripts)/[^/]*$|(^|/)(pyvenv\.cfg|direct_url\.json|__editable__[^/]*|go\.work|[^/]*\.(pth|egg-link))$`)

// moved returns the content of a file of dependencies for another checkout: paths of the user's checkout
// become paths of that one.
func moved(name string, content []byte, from, to string) []byte {
	if !pathsInside.MatchString(name) || bytes.IndexByte(content, 0) >= 0 {
		return content
	}
	if path.Base(name) == "go.work" {
		folder := filepath.Join(from, filepath.FromSlash(path.Dir(name)))
		content = leadsUp.ReplaceAllFunc(content, func(up []byte) []byte {
			if at := filepath.Join(folder, string(up)); !relayfiles.IsIn(at, from) {
				return []byte(at)
			}
			return up
		})
	}
	var out bytes.Buffer
	for {
		before, after, found := bytes.Cut(content, []byte(from))
		out.Write(before)
		if !found {
			return out.Bytes()
		}
		if len(after) > 0 && inName(after[0]) { // another folder, whose name begins in the same way
			out.WriteString(from)
		} else {
			out.WriteString(to)
		}
		content = after
	}
}

var leadsUp = regexp.MustCompile(`\.\./[^\s()"]*`)

func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}
