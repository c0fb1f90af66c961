package plaintext

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// The outputs are as these programs print them; what is wanted is what a person would point at.
func TestLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		output string
		want   []string
	}{
		"nothing": {"\n\n", nil},
		"go test": {
			"ok  \texample.com/a\t0.01s\n--- FAIL: TestStore (0.00s)\n    store_test.go:41: got 3, want 4\nFAIL\nFAIL\texample.com/b\t0.003s\nFAIL\nexit status 1\n",
			[]string{"--- FAIL: TestStore (0.00s)", "store_test.go:41: got 3, want 4"},
		},
		"go build": {
			"# example.com/b\n./b.go:7:2: undefined: missing\n./b.go:9:12: cannot use x (variable of type int) as string value in return statement\nFAIL\texample.com/b [build failed]\n",
			[]string{"./b.go:7:2: undefined: missing", "./b.go:9:12: cannot use x (variable of type int) as string value in return statement", "FAIL\texample.com/b [build failed]"},
		},
		"go panic": {
			"panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x.go:5 +0x1d\nexit status 2\n",
			[]string{"panic: runtime error: index out of range [3] with length 3"},
		},
		"pytest": {
			"=== FAILURES ===\n___ test_sum ___\n\n    def test_sum():\n>       assert total([1]) == 2\nE       assert 1 == 2\nE        +  where 1 = total([1])\n\ntests/test_sum.py:4: AssertionError\n=== short test summary info ===\nFAILED tests/test_sum.py::test_sum - assert 1 == 2\n=== 1 failed, 3 passed in 0.02s ===\n",
			[]string{"E       assert 1 == 2", "E        +  where 1 = total([1])", "FAILED tests/test_sum.py::test_sum - assert 1 == 2"},
		},
		"python": {
			"Traceback (most recent call last):\n  File \"/srv/a.py\", line 3, in <module>\n    import yaml\nModuleNotFoundError: No module named 'yaml'\n",
			[]string{"ModuleNotFoundError: No module named 'yaml'"},
		},
		"jest": {
			"FAIL src/sum.test.js\n  ● adds › two numbers\n\n    expect(received).toBe(expected)\n\n    Expected: 3\n    Received: 4\n\n      at Object.<anonymous> (src/sum.test.js:4:17)\n\nTests:       1 failed, 1 total\n",
			[]string{"● adds › two numbers", "Expected: 3", "Received: 4"},
		},
		"tsc": {
			"src/a.ts(3,5): error TS2304: Cannot find name 'foo'.\nnpm ERR! code ELIFECYCLE\nnpm ERR! errno 2\n",
			[]string{"src/a.ts(3,5): error TS2304: Cannot find name 'foo'."},
		},
		"eslint": {
			"\n/srv/a.js\n  3:5  error  'x' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)\n",
			[]string{"3:5  error  'x' is not defined  no-undef"},
		},
		"cargo": {
			"error[E0425]: cannot find value `x` in this scope\n --> src/main.rs:2:5\n  |\n2 |     x\n  |     ^ not found in this scope\n\nerror: aborting due to 1 previous error\nerror: could not compile `a` (bin \"a\") due to 1 previous error\n",
			[]string{"error[E0425]: cannot find value `x` in this scope", "--> src/main.rs:2:5", "|     ^ not found in this scope"},
		},
		"shell":    {"sh: 1: jq: not found\n", []string{"sh: 1: jq: not found"}},
		"make":     {"cc -o a a.c\na.c:1:10: fatal error: zlib.h: No such file or directory\ncompilation terminated.\nmake: *** [Makefile:2: a] Error 1\n", []string{"a.c:1:10: fatal error: zlib.h: No such file or directory"}},
		"colour":   {"\x1b[31mError: Connection refused\x1b[0m\r\n", []string{"Error: Connection refused"}},
		"progress": {"1%\r50%\rError: out of memory\n", []string{"Error: out of memory"}},
		"words":    {"it is unable to reach it\nbye\n", []string{"it is unable to reach it"}},
		"last":     {"begin\nit is Tuesday\nexit status 3\n", []string{"it is Tuesday"}},
		"crash":    {"a.sh: line 3: 812 segmentation fault  ./a\n812 core dumped\n", []string{"a.sh: line 3: 812 segmentation fault  ./a", "812 core dumped"}},
		"race":     {"found 1 data race(s)\n", []string{"found 1 data race(s)"}},
		"black":    {"would reformat /srv/a.py\nAll done!\n", []string{"would reformat /srv/a.py"}},
		"place":    {"src/a.ts:3:5 - error TS2304: Cannot find name\n", []string{"src/a.ts:3:5 - error TS2304: Cannot find name"}},
		"twice":    {"Error: a\nError: a\nError: b\n", []string{"Error: a", "Error: b"}},
		"long":     {"Error: " + strings.Repeat("ä", 300) + "\n", []string{"Error: ää…"}},
		"data":     {strings.Repeat("error: ", 1000) + "\nfailed\n", []string{"failed"}},
	} {
		if got := TellingLines(c.output); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// Outputs as common tools print them, whose ends are noise: beside each, the lines that a person would point at.
func TestOutputsOfTools(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d outputs, %v", len(files), err)
	}
	for _, file := range files {
		output, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.TrimSuffix(file, ".txt") + ".want")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(TellingLines(string(output)), "\n") + "\n"; got != string(want) {
			t.Errorf("%s:\n%swant\n%s", file, got, want)
		}
	}
}

// What is told stands anywhere in an output of any size, and beside data.
func TestLargeAndBinaryOutputs(t *testing.T) {
	t.Parallel()
	const tells = "store_test.go:41: got 3, want 4"
	noise := strings.Repeat("=== RUN   TestOther\n--- PASS: TestOther (0.00s)\n", 100_000)
	binary := strings.Repeat("\x00\x01error: \xff\xfe\x80\x81\n", 1000)
	for name, output := range map[string]string{
		"at the head":                  tells + "\n" + noise + noise,
		"in the middle":                noise + tells + "\n" + noise,
		"beside data":                  binary + tells + "\n" + binary,
		"after a line without an end":  strings.Repeat("x", 10<<20) + "\n" + tells + "\n",
		"before a line without an end": tells + "\n" + strings.Repeat("error: ", 1<<20),
		"behind a long progress bar":   strings.Repeat("fetching error: 1%\r", 1<<20) + tells,
	} {
		if got := TellingLines(output); !slices.Equal(got, []string{tells}) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := TellingLines(binary); len(got) != 0 {
		t.Errorf("data tells %q", got)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	got := TellingText("throw err;\n\nError: no\r\n    at Object.<anonymous> (a.js:1:7)\nexit status 1\n")
	if want := "throw err;\nError: no"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBest(t *testing.T) {
	t.Parallel()
	lines := []string{"--- FAIL: TestStore (0.00s)", "store_test.go:41: got 3, want 4", "it failed"}
	if got := MostTelling(lines); got != lines[1] {
		t.Errorf("got %q", got)
	}
	if got := MostTelling([]string{"it is Tuesday"}); got != "it is Tuesday" {
		t.Errorf("got %q", got)
	}
	if got := MostTelling(nil); got != "" {
		t.Errorf("got %q", got)
	}
}

// What was read before a fault is told.
func TestReadFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	got, err := ReadTelling(io.MultiReader(strings.NewReader("Error: it\nbye\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || !slices.Equal(got, []string{"Error: it"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add("--- FAIL: a\n\x1b[1mError: b\r\n")
	f.Add(strings.Repeat("a", maxScan) + "\rerror: b\xff\x00\n\x1b]0;")
	f.Add("a.go:1: " + strings.Repeat("é ", 200))
	f.Fuzz(func(t *testing.T, output string) {
		got := TellingLines(output)
		if len(got) > most {
			t.Errorf("%d lines", len(got))
		}
		for _, line := range got {
			if len(line) > maxLine || !utf8.ValidString(line) || strings.ContainsAny(line, "\n\r\x1b") || line == "" {
				t.Errorf("%q", line)
			}
		}
	})
}

// As much as relay reads of a command.
func BenchmarkLines(b *testing.B) {
	output := strings.Repeat("some line of a test that goes on and on 12345\n", 256<<10/46) + "Error: it\n"
	b.SetBytes(int64(len(output)))
	for b.Loop() {
		if got := TellingLines(output); len(got) != 1 {
			b.Fatal(got)
		}
	}
}
