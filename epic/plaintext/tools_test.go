package plaintext

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Outputs of failures of twelve tools, and the line of each at which a person would point. Most are from a run of the tool; an origin names
// the public report that shows the form of the others, whose names are made up.
var tools = []struct{ file, origin, want string }{
	{"go-work-prefix", "go 1.26", "pattern ./...: directory prefix . does not contain modules listed in go.work or their selected dependencies"},
	{"go-missing-module", "go 1.26", "a.go:3:8: no required module provides package github.com/google/uuid; to add it:"},
	{"go-cycle", "go 1.26", "imports ex.test/app/a from b.go: import cycle not allowed"},
	{"go-assert", "go 1.26", "a_test.go:5: V() = 1, want 2"},
	{"go-timeout", "go 1.26", "panic: test timed out after 300ms"},
	{"cargo-mismatched", "cargo 1.95.0", "error[E0308]: mismatched types"},
	{"cargo-no-index", "cargo 1.95.0", "error: no matching package named `serde` found"},
	{"cargo-no-manifest", "cargo 1.95.0", "error: could not find `Cargo.toml` in `/srv/shop` or any parent directory"},
	{"cargo-assert", "cargo 1.95.0", "assertion `left == right` failed: the sum"},
	{"npm-missing-module", "npm 11.19.1", "Error: Cannot find module 'left-pad'"},
	{"npm-ci-out-of-sync", "npm 11.19.1", "npm error Missing: left-pad@1.3.0 from lock file"},
	{"npm-bad-json", "npm 11.19.1", `npm error JSON.parse Invalid package.json: JSONParseError: Expected double-quoted property name in JSON at position 15 while parsing "{\"name\":\"shop\",}"`},
	{"npm-no-program", "npm 11.19.1", "sh: 1: jset: not found"},
	{"pnpm-frozen", "pnpm 12.21.0", `╰─▶ Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up`},
	{"pnpm-no-script", "pnpm 12.21.0", "× Missing script: lint"},
	{"pnpm-test", "pnpm 12.21.0", "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:"},
	{"jest-assert", "jest 30.5.2", "Expected: 3"},
	{"jest-missing-module", "jest 30.5.2", "Cannot find module './summ' from 'sum.test.js'"},
	{"jest-syntax", "jest 30.5.2", "Must use import to load ES Module: /srv/shop/sum.test.js"},
	{"jest-no-tests", "jest 30.5.2", "No tests found, exiting with code 1"},
	{"vitest-assert", "vitest 4.1.12", "AssertionError: expected 3 to be 4 // Object.is equality"},
	{"vitest-missing-module", "vitest 4.1.12", "Error: Cannot find module './summ' imported from /srv/shop/sum.test.js"},
	{"vitest-timeout", "vitest 4.1.12", "Error: Test timed out in 50ms."},
	{"pytest-assert", "pytest 7.2.1", "E       assert 3 == 4"},
	{"pytest-fixture", "pytest 7.2.1", "E       fixture 'client' not found"},
	{"pytest-import", "pytest 7.2.1", "E   ModuleNotFoundError: No module named 'shop'"},
	{"pytest-no-file", "pytest 7.2.1", "ERROR: file or directory not found: tests/test_gone.py"},
	{"ruff-check", "github.com/astral-sh/ruff/issues/17295", "shop/cart.py:3:8: F401 [*] `os` imported but unused"},
	{"ruff-full", "github.com/astral-sh/ruff/issues/17295, as later versions print it", "F821 Undefined name `totl`"},
	{"ruff-format", "github.com/astral-sh/ruff/issues/9311", "error: Failed to parse shop/cart.py:9:71: Unexpected token ')'"},
	{"tsc-type", "tsc 7.0.2", "a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'."},
	{"tsc-no-inputs", "tsc 7.0.2", `error TS18003: No inputs were found in config file '/srv/shop/tsconfig.json'. Specified 'include' paths were '["src"]' and 'exclude' paths were '[]'.`},
	{"tsc-no-types", "tsc 7.0.2", "error TS2688: Cannot find type definition file for 'node'."},
	{"maven-no-pom", "maven 3.8.7", "[ERROR] The goal you specified requires a project to execute but there is no POM in this directory (/srv/shop). Please verify you invoked Maven from the correct directory. -> [Help 1]"},
	{"maven-malformed", "maven 3.8.7", "[FATAL] Non-readable POM /srv/shop/pom.xml: no more data available - expected end tag </project> to close start tag <project> from line 1, parser stopped on END_TAG seen ...<…"},
	{"maven-no-plugin", "maven 3.8.7", "[ERROR] Plugin org.apache.maven.plugins:maven-resources-plugin:2.6 or one of its dependencies could not be resolved: Cannot access central (https://repo.maven.apache.org/maven2) in offline mode and…"},
	{"maven-surefire", "github.com/pkiraly/qa-catalogue/issues/457", "[ERROR]   CartTest.adds:12 expected: <5> but was: <4>"},
	{"dotnet-build", "github.com/dotnet/core/issues/4042", "/srv/shop/Cart.cs(4,7): error CS0246: The type or namespace name 'Ledger' could not be found (are you missing a using directive or an assembly reference?) [/srv/shop/Shop.csproj]"},
	{"dotnet-test", "github.com/dotnet/ef6/pull/2163", "Expected: 5"},
	{"make-separator", "make 4.3", "Makefile:2: *** missing separator.  Stop."},
	{"make-no-program", "make 4.3", "make: ./lint.sh: No such file or directory"},
	{"make-no-makefile", "make 4.3", "make: *** No rule to make target 'test'.  Stop."},
	{"make-cc", "make 4.3", "a.c:1:25: error: ‘x’ undeclared (first use in this function)"},
	{"node-test", "node 20.20.2", "expected: 4"},
	{"node-syntax", "node 20.20.2", "SyntaxError: Unexpected end of input"},
}

func TestBestLineOfTools(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/tools/*.txt")
	if err != nil || len(files) != len(tools) {
		t.Fatalf("%d outputs, %d lines, %v", len(files), len(tools), err)
	}
	for _, c := range tools {
		output, err := os.ReadFile("testdata/tools/" + c.file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		lines := TellingLines(string(output))
		if got := MostTelling(lines); got != c.want || !slices.Contains(lines, got) {
			t.Errorf("%s, of %s: %q, want %q", c.file, c.origin, got, c.want)
		}
	}
}
