package labtest

// language is how a function and its test are written. In its texts stand @NAME, @F and @S for the function, @USE and @CALL
// for that of @NEED, and @X and @WANT for an argument and what the function returns.
type language struct {
	code, test      string // paths
	body, use, call string
	testBody        string
	check, suite    string
	hidden          string // runs a file with the hidden tests, whose name it ends with
	head, end       string // of that file
	imported, tried string // in it, for each task; it prints the task's name when it is right
	base            map[string]string
}

var languages = map[string]language{
	"go": {
		code: "@NAME/@NAME.go", test: "@NAME/@NAME_test.go",
		body: "package @NAME\n@USE\n// Value returns @F * x + @S@CALL.\nfunc Value(x int) int { return @F*x + @S@CALL }\n", use: "\nimport \"lab/@NEED\"\n", call: " + @NEED.Value(x)",
		testBody: "package @NAME\n\nimport \"testing\"\n\nfunc TestValue(t *testing.T) {\n\tif got := Value(@X); got != @WANT {\n\t\tt.Errorf(\"Value(@X) is %d, want @WANT\", got)\n\t}\n}\n",
		check:    "go test -vet=off ./@NAME/", suite: "go test -vet=off ./...",
		hidden: "go run hidden.go", head: "package main\n", imported: "\nimport \"lab/@NAME\"\n", tried: "\nfunc init() {\n\tif @NAME.Value(@X) == @WANT {\n\t\tprintln(\"@NAME\")\n\t}\n}\n", end: "\nfunc main() {}\n",
		base: map[string]string{
			"go.mod":                  "module lab\n\ngo 1.24\n",
			"service/service_test.go": "package service\n\nimport (\n\t\"os/exec\"\n\t\"testing\"\n)\n\nfunc TestService(t *testing.T) {\n\tcmd := exec.Command(\"sh\", \"ci/service.sh\", \"suite\")\n\tcmd.Dir = \"..\"\n\tif out, err := cmd.CombinedOutput(); err != nil {\n\t\tt.Errorf(\"%v: %s\", err, out)\n\t}\n}\n",
		},
	},
	"node": {
		code: "lib/@NAME.js", test: "test/@NAME.test.js",
		body: "@USEmodule.exports = (x) => @F * x + @S@CALL;\n", use: "const @NEED = require(\"./@NEED.js\");\n", call: " + @NEED(x)",
		testBody: "const test = require(\"node:test\");\nconst assert = require(\"node:assert\");\ntest(\"@NAME\", () => assert.strictEqual(require(\"../lib/@NAME.js\")(@X), @WANT));\n",
		check:    "node --test test/@NAME.test.js", suite: "node --test",
		hidden: "node hidden.js", tried: "try { if (require(\"./lib/@NAME.js\")(@X) === @WANT) console.log(\"@NAME\"); } catch {}\n",
		base: map[string]string{
			"package.json":         "{\"name\": \"lab\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node --test\"}}\n",
			"test/service.test.js": "const test = require(\"node:test\");\nconst assert = require(\"node:assert\");\nconst { spawnSync } = require(\"node:child_process\");\ntest(\"service\", () => {\n  const got = spawnSync(\"sh\", [\"ci/service.sh\", \"suite\"], { encoding: \"utf8\" });\n  assert.strictEqual(got.status, 0, got.stdout);\n});\n",
		},
	},
	"python": {
		code: "lib/@NAME.py", test: "tests/test_@NAME.py",
		body: "@USEdef value(x):\n    return @F * x + @S@CALL\n", use: "from lib import @NEED\n\n\n", call: " + @NEED.value(x)",
		testBody: "import unittest\n\nfrom lib import @NAME\n\n\nclass Test@NAME(unittest.TestCase):\n    def test_value(self):\n        self.assertEqual(@NAME.value(@X), @WANT)\n",
		check:    "python3 -m unittest tests.test_@NAME", suite: "python3 -m unittest discover -s tests -t .",
		hidden: "python3 hidden.py", tried: "try:\n    from lib.@NAME import value\n    if value(@X) == @WANT:\n        print(\"@NAME\")\nexcept Exception:\n    pass\n",
		base: map[string]string{
			"lib/__init__.py": "", "tests/__init__.py": "", ".gitignore": "__pycache__/\n",
			"tests/test_service.py": "import subprocess\nimport unittest\n\n\nclass TestService(unittest.TestCase):\n    def test_service(self):\n        got = subprocess.run([\"sh\", \"ci/service.sh\", \"suite\"], capture_output=True, text=True)\n        self.assertEqual(got.returncode, 0, got.stdout)\n",
		},
	},
	"sh": {
		code: "lib/@NAME.sh", test: "tests/@NAME.sh",
		body: "@USE@NAME() { echo $((@F * $1 + @S@CALL)); }\n", use: ". ./lib/@NEED.sh\n", call: " + $(@NEED $1)",
		testBody: ". ./lib/@NAME.sh\n[ \"$(@NAME @X)\" = @WANT ] || { echo \"@NAME @X: expected @WANT, got $(@NAME @X)\"; exit 1; }\necho \"1 test passed\"\n",
		check:    "sh tests/@NAME.sh", suite: "sh ci/all.sh",
		hidden: "sh hidden.sh", tried: "( . ./lib/@NAME.sh && [ \"$(@NAME @X)\" = @WANT ] && echo @NAME ) 2>/dev/null\n",
		base: map[string]string{
			"ci/all.sh": "for t in tests/*.sh; do sh \"$t\" || { echo \"$t failed\"; exit 1; }; done\n", "tests/service.sh": "sh ci/service.sh suite\n",
		},
	},
}
