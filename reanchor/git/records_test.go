package git

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func readStatus(text string) (all []Change, err error) {
	_, err = eachStatus([]byte(text), func(c Change) error { all = append(all, c); return nil })
	return all, err
}

func readNames(text string) (all []Change, err error) {
	err = eachName([]byte(text), func(c Change) error { all = append(all, c); return nil })
	return all, err
}

const (
	zeros   = "0000000000000000000000000000000000000000"
	aChange = ":100644 100644 " + zeros + " " + zeros + " "
)

func TestStatusRecords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     []Change
		wrong    bool
	}{
		{"nothing", "", nil, false},
		{"ordinary", " M a b\nc\x00", []Change{{Code: " M", Path: "a b\nc"}}, false},
		{"rename", "R  new\x00M  old\x00?? x\x00", []Change{{Code: "R ", Path: "new", From: "M  old"}, {Code: "??", Path: "x"}}, false},
		{"rename that is not staged", " R new\x00old\x00", []Change{{Code: " R", Path: "new", From: "old"}}, false},
		{"unmerged", "UU a\x00", []Change{{Code: "UU", Path: "a"}}, false},
		{"bytes", "?? \xff\xfe\"\x00", []Change{{Code: "??", Path: "\xff\xfe\""}}, false},
		{"cut off", "?? abc", nil, true},
		{"no path", " M \x00", nil, true},
		{"rename without old path", "R  new\x00", nil, true},
		{"no space", "9 what\x00", nil, true},
		{"an empty record", "\x00", nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := readStatus(tt.in)
			if !slices.Equal(got, tt.want) && !tt.wrong || (err != nil) != tt.wrong {
				t.Errorf("%q, %v, want %q, error: %v", got, err, tt.want, tt.wrong)
			}
		})
	}
}

func TestNameRecords(t *testing.T) {
	t.Parallel()
	got, err := readNames(aChange + "M\x00a\nb\x00" + aChange + "R087\x00old\x00new\x00" + aChange + "C100\x00M\x00A\x00:100644 160000 1 2 T\x00mod\x00")
	none := strings.Repeat("0", 40)
	want := []Change{
		{Code: "M", Path: "a\nb", Blob: none},
		{Code: "R", Path: "new", From: "old", Blob: none},
		{Code: "C", Path: "A", From: "M", Blob: none},
		{Code: "T", Path: "mod", Blob: "2", Link: "2"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("names = %q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{aChange + "M\x00", aChange + "R100\x00old\x00", "x\x00a\x00", aChange + "\x00a\x00", aChange + "x\x00a\x00", "\x00", aChange + "M\x00\x00"} {
		if got, err := readNames(bad); !errors.Is(err, errRecord) {
			t.Errorf("names of %q = %q, %v, want an error", bad, got, err)
		}
	}
}

// Nothing may crash or be invented.
func FuzzStatus(f *testing.F) {
	f.Add(" M a\x00R  new\x00old\x00?? x\x00")
	f.Add("UU a\x00!! i\x00")
	f.Fuzz(func(t *testing.T, text string) {
		whole, _ := readStatus(text)
		for _, c := range whole {
			if len(c.Code) != 2 || c.Path == "" || !strings.Contains(text, c.Path) || !strings.Contains(text, c.From) {
				t.Errorf("change %q was not in %q", c, text)
			}
		}
	})
}

func FuzzNames(f *testing.F) {
	f.Add(aChange + "M\x00a\x00" + aChange + "R100\x00old\x00new\x00")
	f.Fuzz(func(t *testing.T, text string) {
		whole, _ := readNames(text)
		for _, c := range whole {
			if len(c.Code) != 1 || c.Path == "" {
				t.Errorf("change %q from %q", c, text)
			}
		}
	})
}

func TestLinesIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1\t2\ta\x00-\t-\tb\x00":            "map[a:{1 2} b:{0 0}] <nil>",
		"1\t2\t\x00old\x00new\tx\x00":       "map[new\tx:{1 2}] <nil>",
		"1\t0\ta\x000\t1\tb\x003\t0\tc\x00": "map[a:{1 0} b:{0 1}] <nil>",
		"99999999999999999999\t1\ta\x00":    "map[a:{0 1}] <nil>",
		"1 2 a\x00":                         `map[] git printed something relay does not understand: numbers of lines "1 2 a"`,
	} {
		lines, _, err := linesIn([]byte(text), 2)
		if got := fmt.Sprint(lines, " ", err); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
