package integration

import (
	"errors"
	"strings"
	"testing"
)

// Lines that both sides have added at one place of a file are kept, the branch's first; a changed line, or one that both have added, is
// a conflict as before.
func TestBothHaveAdded(t *testing.T) {
	t.Parallel()
	const start = `printf 'b\nd\n' > list; printf 'x\n' > more; ln -s more link; git add -A; git commit -q -m base; git branch trunk; git checkout -q -b task; `
	for name, c := range map[string]struct{ task, trunk, want string }{
		"at the end":        {`echo mine >> list`, `echo theirs >> list`, "b\nd\ntheirs\nmine"},
		"in the middle":     {`sed -i '1a mine' list`, `sed -i '1a theirs' list`, "b\ntheirs\nmine\nd"},
		"without a newline": {`printf mine >> list`, `echo theirs >> list`, "b\nd\ntheirs\nmine"},
		"blocks": {
			`printf '\nmine() {\n  1\n}\n' >> list`, `printf '\ntheirs() {\n  2\n}\n' >> list`,
			"b\nd\n\ntheirs() {\n  2\n}\n\nmine() {\n  1\n}",
		},
		"the same line, too":     {`printf 'both\nmine\n' >> list`, `printf 'both\ntheirs\n' >> list`, ""},
		"a changed line":         {`sed -i 's/d/mine/' list`, `sed -i 's/d/theirs/' list`, ""},
		"one adds, one changes":  {`sed -i 's/d/mine/' list`, `echo theirs >> list`, ""},
		"a link":                 {`ln -sf mine link; echo m >> list`, `ln -sf theirs link; echo t >> list`, ""},
		"shorter marks":          {`echo '* conflict-marker-size=5' > .gitattributes; echo mine >> list`, `echo '* conflict-marker-size=5' > .gitattributes; echo theirs >> list`, ""},
		"lines like marks":       {`sed -i 's/^b$/<<<<<<< b/' list; echo mine >> list`, `echo theirs >> list`, ""},
		"a new file":             {`echo mine > new`, `echo theirs > new`, ""},
		"another file conflicts": {`echo mine >> list; echo m > more`, `echo theirs >> list; echo t > more`, ""},
	} {
		for _, mode := range []Mode{Merge, Rebase, Squash} {
			if mode != Merge && name != "at the end" {
				continue
			}
			l := newLand(t)
			commit := "; git add -A; git commit -q -m work"
			l.Sh(start + c.task + commit + "; git checkout -q trunk; " + c.trunk + commit)
			branch := NewBranch(l.Open(), "lab", mode)
			branch.Additions = true
			made, err := branch.Integrate(t.Context(), l.Git("rev-parse", "trunk"), l.Git("rev-parse", "task"), MergeInput{Message: "Land\n"})
			switch {
			case c.want == "":
				if !errors.As(err, new(*ConflictError)) {
					t.Errorf("%s, %s: %v, want a conflict", name, mode, err)
				}
			case err != nil:
				t.Errorf("%s, %s: %v", name, mode, err)
			default:
				if got := l.Git("show", made.Commit+":list"); strings.TrimSpace(got) != c.want {
					t.Errorf("%s, %s: %q, want %q", name, mode, got, c.want)
				}
			}
		}
	}
}
