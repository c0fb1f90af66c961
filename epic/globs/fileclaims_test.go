package globs

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// overlap compares two lists of globs and paths.
func overlap(a, b []string) bool { return NewFileClaims(a).Overlaps(NewFileClaims(b)) }

func TestOverlap(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string // separated by spaces
		want bool
	}{
		{"a/*.go", "b/**", false},
		{"docs/**", "src/**", false},
		{"x.go", "x_test.go", false},
		{"src/*.go", "src/*.ts", false},
		{"src/*.go", "src/a/b.go", false},
		{"src/*", "src", true}, // the folder is what is in it
		{"src", "src2/a.go", false},
		{"src", "src-old", false},
		{"a.go b.go", "c.go d.go", false},
		{"a/{b,c}/*.go", "a/{d,e}/*.go", false},
		{"a/[a-m]*", "a/[n-z]*", false},
		{"a/[!x]", "a/x", false},
		{"a/?", "a/bc", false},
		{"**/*.md", "**/*.go", true}, // x.md/y.go is both
		{"*.md", "docs/*.md", false},
		{"go.mod", "**/*.go", true},                     // nothing says that go.mod is no folder
		{"cmd/**/main.go", "cmd/**/main_test.go", true}, // main.go is covered with what is below it
		{`a/\*`, "a/b", false},
		{"[", "a", false},
		{"", "", false},
		{"", "a", false},
		{"a", "", false},

		{"a.go", "a.go", true},
		{"./a.go", "a.go", true},
		{"src", "src/a/b.go", true},
		{"src/", "src/a/*.go", true},
		{"src/**", "src/a.go", true},
		{"src/**", "src", true},
		{"src/**/x.go", "src/x.go", true},
		{"**", "a", true},
		{".", "a/b", true},
		{"*", "a/b/c", true},
		{"a/*.go", "a/x*", true},
		{"*_test.go", "a_*.go", true},
		{"{a,b}/x", "b/*", true},
		{"{*,x}*/b", "a/c/b", true}, // doublestar makes ** of it
		{"a/[a-m]*", "a/[m-z]*", true},
		{"a/[!x]", "a/y", true},
		{"a/[^b]", "a/c/d", true},
		{"app/[id].js", "app/[id].js", true},
		{"app/[id].js", "app/i.js", true},
		{"app/[id]/**", "app/[id]/page.tsx", true},
		{"app/[id]/**", "app/\\[id]/page.tsx", true},
		{"app/[id]/**", "app/x/page.tsx", false},
		{"{app/[id].js,x}", "app/d*", true},
		{`a/\*`, "a/*", true},
		{"é*", "?x", true},
		{"a b.go c.go", "x c.go", true},
	} {
		a, b := strings.Fields(test.a), strings.Fields(test.b)
		if got := overlap(a, b); got != test.want {
			t.Errorf("%q and %q: got %v, want %v", a, b, got, test.want)
		}
		if got := overlap(b, a); got != test.want {
			t.Errorf("%q and %q: got %v, want %v", b, a, got, test.want)
		}
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		glob, path string
		want       bool
	}{
		{"a", "a", true},
		{"a", "a/b/c", true},
		{"a/", "a/b", true},
		{"./a", "a", true},
		{".", "x/y", true},
		{"./", "x", true},
		{"*", "a/b", true},
		{"a/*.go", "a/x.go", true},
		{"app/[id].js", "app/[id].js", true},
		{"app/[id]/**", "app/[id]/page.tsx", true},
		{"app/[[...all]]/*.tsx", "app/[[...all]]/page.tsx", true},
		{"app/[id]/*", "app/d/page.tsx", true},
		{"app/[id]/*", "app/x/page.tsx", false},
		{"a/**", "a", true},
		{"a", "ab", false},
		{"a/b", "a", false},
		{"?", "ab/c", false},
		{"a/*.go", "a/b/x.go", false},
		{"", "a", false},
		{"[", "a", false},
	} {
		if got := Covers(test.glob, test.path); got != test.want {
			t.Errorf("%q covers %q: got %v, want %v", test.glob, test.path, got, test.want)
		}
	}
}

// A glob must not be able to keep a night from going on.
func TestOverlapEnds(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string][2]string{
		"alternatives":        {strings.Repeat("{a,b}", 64) + "x", strings.Repeat("{a,b}", 64) + "y"},
		"nested alternatives": {strings.Repeat("{a,", 500) + strings.Repeat("}", 500), "b*"},
		"stars":               {strings.Repeat("*a", 20_000), strings.Repeat("*b", 20_000) + "c"},
		"doublestars":         {strings.Repeat("**/a/", 5_000), strings.Repeat("**/b/", 5_000)},
		"classes":             {strings.Repeat("[!a-c]", 5_000), strings.Repeat("?", 5_001) + "x"},
		"brackets":            {strings.Repeat("{[", 20_000), "*"},
	} {
		start := time.Now()
		overlap([]string{pair[0]}, []string{pair[1]})
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("%s took %s", name, took)
		}
	}
	long := make([]string, 2000)
	for i := range long {
		long[i] = strings.Repeat("*[a]", 100)
	}
	if !overlap(long, []string{strings.Repeat("*b", 100) + "c"}) { // they do not overlap, but that would take long to find out
		t.Error("no overlap, though")
	}
}

// glob makes a pattern of few characters, so that two of them often have a path in common.
func glob(r *rand.Rand, depth int) string {
	var b strings.Builder
	for range 1 + r.IntN(5) {
		switch r.IntN(14) {
		case 0:
			b.WriteString("*")
		case 1:
			b.WriteString("?")
		case 2:
			b.WriteString([]string{"**/", "/**", "**", "/**/", "***"}[r.IntN(5)])
		case 3:
			b.WriteString([]string{"[ab]", "[!a]", "[^ab]", "[a-c]", "[c-a]", "[b-]", "[-b]", `[\]a]`, "[a-b-d]", "[!/]", "[{,}]"}[r.IntN(11)])
		case 4:
			if depth > 0 {
				b.WriteString("{" + glob(r, depth-1) + "," + glob(r, depth-1) + "}")
			}
		case 5:
			b.WriteString([]string{`\*`, `\{`, `\a`, `\,`, "[", "{", "}", ",", "]", `\`}[r.IntN(10)])
		case 6, 7:
			b.WriteString("/")
		default:
			b.WriteByte("abc-"[r.IntN(4)])
		}
	}
	return b.String()
}

// instance makes a path that a glob may well match.
func instance(r *rand.Rand, glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*', '?', '[':
			b.WriteString([]string{"a", "b", "c", "-", "ab", "a/b", "", "]"}[r.IntN(8)])
		case '{', '}', ',', '\\':
			if r.IntN(4) == 0 {
				b.WriteByte(c)
			}
		default:
			if r.IntN(8) > 0 {
				b.WriteByte(c)
			}
		}
	}
	if r.IntN(3) == 0 {
		b.WriteString("/" + string("abc"[r.IntN(3)]))
	}
	return cleaned(b.String())
}

// cleaned makes a path as git lists it, or nothing.
func cleaned(p string) string {
	var parts []string
	for part := range strings.SplitSeq(p, "/") {
		if part != "" && part != "." && part != ".." {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/")
}

// Whatever file two lists share is found; so is every glob that matches a path for doublestar.
func TestOverlapMissesNothing(t *testing.T) {
	t.Parallel()
	shared, apart := 0, 0
	for seed := range uint64(40_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		a, b := glob(r, 2), glob(r, 2)
		both := overlap([]string{"elsewhere", a}, []string{b})
		if !both {
			apart++
		}
		for k := range 8 {
			p := instance(r, []string{a, b}[k%2])
			if p == "" {
				continue
			}
			checkOverlap(t, a, b, p, both)
			if Covers(a, p) && Covers(b, p) {
				shared++
			}
		}
	}
	if shared < 5_000 || apart < 10_000 {
		t.Errorf("%d paths were shared and %d pairs apart: this proves little", shared, apart)
	}
}

// What is compared by segments is the same when it is compared by characters, and two claims of one group overlap.
func TestSegmentsAgreeWithGlobset(t *testing.T) {
	t.Parallel()
	pieces := []string{"a", "b", "ab", "*", "a*", "*b", "*a*", "b*a", "**", "a**b", "***", "*a*b*"}
	starry := func(r *rand.Rand) string {
		parts := make([]string, 1+r.IntN(4))
		for i := range parts {
			parts[i] = pieces[r.IntN(len(pieces))]
		}
		return strings.Join(parts, "/")
	}
	apart, groups := 0, 0
	for seed := range uint64(60_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		c, o := NewFileClaims([]string{starry(r)}), NewFileClaims([]string{starry(r)})
		if c[0].form == patterned || o[0].form == patterned {
			t.Fatalf("%q or %q is not compared by segments", c[0].text, o[0].text)
		}
		got := c.Overlaps(o)
		x, _ := c[0].steps()
		y, _ := o[0].steps()
		left := maxPairs
		if want := intersect(x, y, &left); got != want {
			t.Fatalf("%q and %q: got %v by segments, %v by characters", c[0].text, o[0].text, got, want)
		}
		if c[0].group() == o[0].group() && c[0].text != o[0].text {
			if groups++; !got {
				t.Fatalf("%q and %q are both in group %q, and do not overlap", c[0].text, o[0].text, c[0].group())
			}
		}
		if !got && c.OverlapsGroup(o, 0) {
			t.Fatalf("%q overlaps the group of %q, and not itself", c[0].text, o[0].text)
		}
		for _, mid := range []string{"ab*", "b*"} { // another claim of the same group
			other := NewFileClaims([]string{strings.Replace(o[0].text, "*a*", "*"+mid, 1)})
			if other[0].group() == o[0].group() && c.OverlapsGroup(o, 0) && !c.Overlaps(other) {
				t.Fatalf("%q overlaps the group of %q, and not %q", c[0].text, o[0].text, other[0].text)
			}
		}
		if !got {
			apart++
		}
	}
	if apart < 10_000 || groups < 500 {
		t.Errorf("%d pairs were apart and %d in one group: this proves little", apart, groups)
	}
}

func checkOverlap(t *testing.T, a, b, p string, both bool) {
	t.Helper()
	for _, g := range []string{a, b} {
		if ok, _ := doublestar.Match(g, p); ok && !Covers(g, p) {
			t.Errorf("%q matches %q, and does not cover it", g, p)
		}
		if Covers(g, p) && !overlap([]string{g}, []string{p}) {
			t.Errorf("%q covers %q, and does not overlap it", g, p)
		}
	}
	if Covers(a, p) && Covers(b, p) && !both {
		t.Errorf("%q and %q both cover %q, and do not overlap", a, b, p)
	}
}

func FuzzOverlap(f *testing.F) {
	f.Add("a/*.go", "**/x.go", "a/x.go")
	f.Add("{a,b*}/[!c]", "b/**", "bb/d")
	f.Add("0", "\xf1", "\x81")
	f.Add(`[\]-a]{*,}*`, "???", "aa/b")
	f.Fuzz(func(t *testing.T, a, b, p string) {
		if p = cleaned(p); p != "" && len(a)+len(b)+len(p) < 200 && strings.Count(a+b, "{") < 8 { // doublestar itself takes for ever
			checkOverlap(t, a, b, p, overlap([]string{a}, []string{b}))
		}
	})
}

func BenchmarkOverlap(b *testing.B) {
	for name, pair := range map[string][2]string{
		"paths": {"src/pkg/file17.go", "src/pkg/file18.go"}, "apart": {"src/**/*.go", "docs/**"},
		"globs": {"src/**/*_test.go", "src/pkg/*.md"}, "glob and path": {"src/**/*.go", "src/pkg/sub/file.md"},
	} {
		l, m := NewFileClaims([]string{pair[0]}), NewFileClaims([]string{pair[1]})
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.Overlaps(m)
			}
		})
	}
}
