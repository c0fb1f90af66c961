package telling

import (
	"slices"
	"strings"
	"testing"
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
			[]string{"FAIL src/sum.test.js", "● adds › two numbers", "expect(received).toBe(expected)"},
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
			[]string{"error[E0425]: cannot find value `x` in this scope", "|     ^ not found in this scope"},
		},
		"shell":    {"sh: 1: jq: not found\n", []string{"sh: 1: jq: not found"}},
		"make":     {"cc -o a a.c\na.c:1:10: fatal error: zlib.h: No such file or directory\ncompilation terminated.\nmake: *** [Makefile:2: a] Error 1\n", []string{"a.c:1:10: fatal error: zlib.h: No such file or directory"}},
		"colour":   {"\x1b[31mError: Connection refused\x1b[0m\r\n", []string{"Error: Connection refused"}},
		"progress": {"1%\r50%\rError: out of memory\n", []string{"Error: out of memory"}},
		"words":    {"it is unable to reach it\nbye\n", []string{"it is unable to reach it"}},
		"last":     {"begin\nit is Tuesday\nexit status 3\n", []string{"it is Tuesday"}},
		"twice":    {"Error: a\nError: a\nError: b\n", []string{"Error: a", "Error: b"}},
		"long":     {"Error: " + strings.Repeat("ä", 300) + "\n", []string{"Error: " + strings.Repeat("ä", 75) + "…"}},
		"data":     {strings.Repeat("error: ", 1000) + "\nfailed\n", []string{"failed"}},
	} {
		if got := Lines(c.output); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("--- FAIL: a\n\x1b[1mError: b\r\n")
	f.Fuzz(func(t *testing.T, output string) {
		got := Lines(output)
		if len(got) > most {
			t.Errorf("%d lines", len(got))
		}
		for _, line := range got {
			if len(line) > maxLine || strings.ContainsAny(line, "\n\r\x1b") || line == "" {
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
		if got := Lines(output); len(got) != 1 {
			b.Fatal(got)
		}
	}
}
