package changes

import (
	"testing"

	"relay/attempts"
)

// What shells and interpreters print when they cannot begin: dash, bash, busybox, zsh, env, npm, make, python and node.
func TestLacks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code int
		tail string
		want Missing
	}{
		"dash":               {127, "sh: 1: jest: not found\n", Missing{MissingProgram, "jest"}},
		"dash, a path":       {127, "sh: 1: node_modules/.bin/jest: not found\n", Missing{MissingFile, "node_modules/.bin/jest"}},
		"dash, in a script":  {127, "begin\n./verify.sh: 3: jq: not found\n", Missing{MissingProgram, "jq"}},
		"bash":               {127, "sh: line 1: jest: command not found\n", Missing{MissingProgram, "jest"}},
		"bash, a path":       {127, "sh: line 1: ./run: No such file or directory\n", Missing{MissingFile, "./run"}},
		"busybox":            {127, "sh: jest: not found\n", Missing{MissingProgram, "jest"}},
		"zsh":                {127, "zsh:1: command not found: jest\n", Missing{MissingProgram, "jest"}},
		"env":                {127, "/usr/bin/env: ‘node’: No such file or directory\n", Missing{MissingProgram, "node"}},
		"not executable":     {126, "sh: 1: ./verify.sh: Permission denied\n", Missing{NotExecutable, "./verify.sh"}},
		"interpreter":        {126, "bash: ./verify.sh: /opt/bin/foo: bad interpreter: No such file or directory\n", Missing{MissingFile, "/opt/bin/foo"}},
		"interpreter, later": {127, "sh: line 1: ./verify.sh: cannot execute: required file not found\n", Missing{NotExecutable, "./verify.sh"}},
		"npm":                {127, "> test\n> jest\n\nsh: 1: jest: not found\n", Missing{MissingProgram, "jest"}},
		"go":                 {1, "a.go:3:8: no required module provides package github.com/a/b; to add it:\n\tgo get github.com/a/b\n", Missing{MissingModule, "github.com/a/b"}},
		"make":               {2, "make: jest: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n", Missing{MissingProgram, "jest"}},
		"dash, a script":     {2, "sh: 0: cannot open verify.sh: No such file\n", Missing{MissingFile, "verify.sh"}},
		"python, a script":   {2, "python3: can't open file '/w/1/tests/run.py': [Errno 2] No such file or directory\n", Missing{MissingFile, "/w/1/tests/run.py"}},
		"python -m":          {1, "/usr/bin/python3: No module named pytest\n", Missing{MissingTool, "pytest"}},
		"python, imports":    {1, "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nModuleNotFoundError: No module named 'requests'\n", Missing{MissingModule, "requests"}},
		"node":               {1, "Error: Cannot find module 'express'\nRequire stack:\n- /w/1/index.js\n", Missing{MissingModule, "express"}},
		"node, its own":      {1, "Error: Cannot find module './greet'\n", Missing{MissingFile, "./greet"}},
		"node, esm":          {1, "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'vitest' imported from /w/1/a.js\n", Missing{MissingModule, "vitest"}},
		"dash, sources":      {2, "sh: 1: .: cannot open ./.env: No such file\n", Missing{MissingFile, "./.env"}},
		"bash, reads":        {1, "/usr/bin/bash: line 3: data/in.txt: No such file or directory\n", Missing{MissingFile, "data/in.txt"}},
		"bash, sources":      {1, "sh: line 1: .env: No such file or directory\n", Missing{MissingFile, ".env"}},
		"node, its settings": {9, "node: .env: not found\n", Missing{MissingFile, ".env"}},
		"php":                {255, "PHP Fatal error:  Uncaught Error: Failed opening required '/w/1/vendor/autoload.php' (include_path='.') in /w/1/t.php:1\n", Missing{MissingFile, "/w/1/vendor/autoload.php"}},
		"npx":                {1, "npm error npx canceled due to missing packages and no YES option: [\"jest@29.7.0\"]\n", Missing{MissingProgram, "jest"}},
		"a failing test":     {1, "--- FAIL: TestA (0.00s)\n    page: not found\n", Missing{}},
		"a file it reads":    {1, "cat: golden.txt: No such file or directory\n", Missing{}},
		"silent":             {127, "", Missing{}},
		"passes":             {0, "sh: 1: jest: not found\n", Missing{}},
	} {
		if got := FindMissing(attempts.CheckRun{ExitCode: c.code, Tail: c.tail}); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}
