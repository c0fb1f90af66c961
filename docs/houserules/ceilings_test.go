package houserules

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	sizesFile   = ".ci/sizes"
	typesFile   = ".ci/types"
	englishFile = ".ci/english"
)

// table is a file of ceilings: a name, its numbers and a reason on each line. limits is what a name without a line may have.
type table struct {
	file   string
	limits []int
	units  []string
}

var (
	sizes   = table{sizesFile, []int{2500, 25}, []string{"lines", "files"}}
	types   = table{typesFile, []int{25, 2}, []string{"methods", "files"}}
	english = table{englishFile, nil, []string{"findings"}} // a phrase that is new in the list has no ceiling before
)

type ceiling struct {
	numbers []int
	reason  string
}

var tableRow = regexp.MustCompile(`(?m)^([^#\s]+)((?:[ \t]+\d+)+)(?:[ \t]+(\S.*))?$`)

// read returns the ceilings in the text of a table, by name. Only lines of the table's form count.
func (b table) read(text string) map[string]ceiling {
	rows := map[string]ceiling{}
	for _, m := range tableRow.FindAllStringSubmatch(text, -1) {
		var c ceiling
		for field := range strings.FieldsSeq(m[2]) {
			n, _ := strconv.Atoi(field)
			c.numbers = append(c.numbers, n)
		}
		c.reason = m[3]
		if len(c.numbers) == len(b.units) {
			rows[m[1]] = c
		}
	}
	return rows
}

// most returns what a name may have: the higher of its ceiling and the limit.
func (b table) most(rows map[string]ceiling, name string) []int {
	most := make([]int, len(b.units))
	copy(most, b.limits)
	for i, n := range rows[name].numbers {
		most[i] = max(most[i], n)
	}
	return most
}

// check compares what the repository has with the ceilings, and returns what is wrong and what could be lowered.
func (b table) check(rows map[string]ceiling, have map[string][]int) (wrong, hints []string) {
	for _, name := range sortedKeys(have) {
		most := b.most(rows, name)
		for i, n := range have[name] {
			if n > most[i] {
				wrong = append(wrong, fmt.Sprintf("%s has %d %s and may have %d", name, n, b.units[i], most[i]))
			}
		}
	}
	for _, name := range sortedKeys(rows) {
		numbers, ok := have[name]
		switch {
		case !ok:
			wrong = append(wrong, fmt.Sprintf("%s has a line for %s, which does not exist: remove it", b.file, name))
		case b.limits != nil && within(numbers, b.limits):
			wrong = append(wrong, fmt.Sprintf("%s is within the limits now: remove its line from %s", name, b.file))
		case !slices.Equal(b.lowered(rows[name].numbers, numbers), rows[name].numbers):
			hints = append(hints, fmt.Sprintf("%s has %v, and %s allows %v", name, numbers, b.file, rows[name].numbers))
		}
	}
	return wrong, hints
}

// lowered returns ceilings for what there is now, none above what it was. Lines of packages are rounded up, to leave room for a fix.
func (b table) lowered(ceilings, have []int) []int {
	low := slices.Clone(ceilings)
	for i, n := range have {
		if b.units[i] == "lines" {
			n = (n + 49) / 50 * 50
		}
		low[i] = min(low[i], n)
	}
	return low
}

// rewrite returns the text of a table with its numbers lowered and without lines that are no longer needed.
func (b table) rewrite(text string, have map[string][]int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		m := tableRow.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			out.WriteString(line)
			continue
		}
		numbers, ok := have[m[1]]
		if !ok || b.limits != nil && within(numbers, b.limits) {
			continue
		}
		row := b.read(line)[m[1]]
		out.WriteString(m[1])
		for _, n := range b.lowered(row.numbers, numbers) {
			fmt.Fprintf(&out, " %d", n)
		}
		out.WriteString(strings.TrimRight(" "+row.reason, " ") + "\n")
	}
	return out.String()
}

// hold fails the test where the repository exceeds a ceiling; -update lowers the ceilings first.
func (b table) hold(t *testing.T, now tree, have map[string][]int, remedy string) {
	t.Helper()
	text := now[b.file]
	if *update {
		text = b.rewrite(text, have)
		if err := os.WriteFile(path.Join(root, b.file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	wrong, hints := b.check(b.read(text), have)
	for _, line := range wrong {
		t.Error(line)
	}
	if len(wrong) > 0 {
		t.Log(remedy)
	}
	if len(hints) > 0 {
		t.Logf("these can be lowered, with go test ./docs/houserules -update:\n  %s", strings.Join(hints, "\n  "))
	}
}

// raised lists ceilings that are higher than before. A line may move to a new name, with at most the numbers of one that is gone.
func (b table) raised(before, now map[string]ceiling) (list []string) {
	var gone [][]int
	for name, c := range before {
		if _, ok := now[name]; !ok {
			gone = append(gone, c.numbers)
		}
	}
	slices.SortFunc(gone, slices.Compare) // the smallest that suffices is used up
	for _, name := range sortedKeys(now) {
		if _, ok := before[name]; !ok {
			if b.limits == nil || within(now[name].numbers, b.limits) {
				continue
			}
			if i := slices.IndexFunc(gone, func(old []int) bool { return within(now[name].numbers, old) }); i >= 0 {
				gone = slices.Delete(gone, i, i+1)
				continue
			}
		}
		if most := b.most(before, name); !within(now[name].numbers, most) {
			list = append(list, fmt.Sprintf("%s: %s may have %v, and had %v before this change", b.file, name, now[name].numbers, most))
		}
	}
	return list
}

// A ceiling is never raised in the change that meets it. A change of the tables alone may raise one: a reviewer sees it then.
func TestNoCeilingIsRaised(t *testing.T) {
	t.Parallel()
	before, now := readBoth(t)
	if len(otherChanges(before, now)) == 0 {
		t.Skip("this change has nothing but ceilings in it")
	}
	for _, b := range []table{sizes, types, english} {
		text, ok := before[b.file]
		if !ok {
			text, ok = firstCommitted(b.file)
		}
		if !ok {
			continue
		}
		for _, line := range b.raised(b.read(text), b.read(now[b.file])) {
			t.Error(line)
		}
	}
}

// otherChanges lists the Go files and pages that differ between two trees.
func otherChanges(before, now tree) (list []string) {
	for name, text := range now {
		if old, ok := before[name]; (!ok || old != text) && !strings.HasPrefix(name, ".ci/") {
			list = append(list, name)
		}
	}
	for name := range before {
		if _, ok := now[name]; !ok {
			list = append(list, name)
		}
	}
	return list
}

func within(numbers, most []int) bool {
	for i, n := range numbers {
		if n > most[i] {
			return false
		}
	}
	return true
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
