package checks

import (
	"relay/epic/pattern"
)

// Lines in which test programs say that they ran no test; go test says it for each package, and names those that ran some.
var (
	noTests   = pattern.New(`(?m)\[no test files\]|\[no tests to run\]|^No tests found|\bno tests ran\b|^\s+0 passing\b|^(#|ℹ) tests 0$|^(\[\w+\] )?Tests run: 0,|No tests to run|No test (is available|matches)|^test result: ok\. 0 passed; 0 failed|^Ran 0 tests`)
	someTests = pattern.New(`(?m)^ok\s+\S+\s+(\(cached\)|[\d.]+s)(\s+coverage: .*% of statements(?: in \S+)?)?\s*$|^DONE [1-9]\d* tests|"Action":"pass","Package":"[^"]*","Test"`)
)

// ranNoTest reports whether the output of a command says that it ran no test, and nothing in it says that it ran one.
func ranNoTest(output string) bool {
	return noTests.MatchString(output) && CountTests(output).Ran == 0 && !someTests.MatchString(output)
}

// onlyTests matches a command that is a test runner alone.
var onlyTests = pattern.New(`^\s*(cd [^&;|\n]+&&\s*)?([A-Za-z_]\w*=\S*\s+)*((uv|poetry) run |timeout \S+ )?((go|cargo|bun|deno|mvn|dotnet) test|(npm|pnpm|yarn)( run)? test|python[0-9.]* -m (pytest|unittest)|pytest|(npx )?(jest|vitest|mocha)|node --test)\b[^&;|\n]*(2>&1)?\s*$`)
