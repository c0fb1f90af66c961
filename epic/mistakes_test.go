package epic

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// head is a valid beginning; the tasks of a test start on line 5.
const head = "version: 2\nid: 20260111-x\ntitle: X\ntasks:\n"

// mistakes are files and the problems expected in them, as place, message and hint.
var mistakes = []struct{ name, src, want string }{
	{"empty", "", "1:1: the epic is empty (start with version: 2, id:, title: and tasks:)"},
	{"only a comment", "# nothing\n", "1:1: the epic is empty (start with version: 2, id:, title: and tasks:)"},
	{"a list", "- a\n", "1:1: an epic must be a mapping, not a list (start with version: 2, id:, title: and tasks:)"},
	{"nothing required", "description: x\n", `1:1: the version is missing (write version: 2)
1:1: id is missing (add id: YYYYMMDD-short-name)
1:1: the epic has no title (add title: and a few words)
1:1: the epic has no tasks (add at least one task under tasks:)`},
	{
		"version of the future", "version: 3\nid: 20260111-x\ntitle: X\ntasks: {T1: {title: a}}\n",
		"1:10: version 3 is not one this relay can read (1 and 2) (write version: 2)",
	},
	{
		"version in words", "version: two\nid: 20260111-x\ntitle: X\ntasks: {T1: {title: a}}\n",
		`1:10: version must be a number, not the text "two" (write a number without quotes)`,
	},
	{
		"epic id", "version: 2\nid: My Epic\ntitle: X\ntasks: {T1: {title: a}}\n",
		`2:5: id "My Epic" is not allowed (use YYYYMMDD-short-name: lower case letters, digits and -, at most 64 characters)`,
	},
	{
		"unknown keys", "versoin: 2\nversion: 2\nid: 20260111-x\ntitle: X\ntasks:\n  T1:\n    title: a\n    depend_on: []\n    zzz: 1\n",
		`1:1: unknown key versoin in the epic (did you mean version?)
8:5: unknown key depend_on in task T1 (did you mean depends_on?)
9:5: unknown key zzz in task T1 (the keys are ` + strings.Join(taskKeys.names, ", ") + ")",
	},
	{
		"duplicate keys", "version: 2\nid: 20260111-x\ntitle: X\ntitle: Y\ntasks:\n  T1:\n    title: a\n    title: b\n  T1: {title: c}\n",
		`4:1: key title is given twice, first on line 3 (take one of the two out)
8:5: key title is given twice, first on line 7 (take one of the two out)
9:3: task "T1" is defined twice, first on line 6 (give each task an id of its own)`,
	},
	{
		"wrong types", head + "  T1:\n    title: [a]\n    points: many\n    files: a.go\n    depends_on: {T2: x}\n    allow_no_change: 7\n    checks: [[a]]\n",
		`6:12: title must be text, not a list
7:13: points must be a number, not the text "many" (write a number without quotes)
8:12: files must be a list, not the text "a.go" (write [a.go])
9:17: depends_on must be a list, not a mapping (write each entry on a line of its own, after - )
10:22: allow_no_change must be true or false, not the number 7 (write true or false)
11:14: a check must be text, not a list`,
	},
	{
		"more wrong types", head + "  [T0]: {title: a}\n  T1:\n    ? [a]\n    : b\n    title: !!binary YQ==\n    files: [[a]]\n    depends_on: 7\n    points: !!int ten\n    timeout_minutes: 999999999\n    acceptance_criteria: [[a]]\n",
		`5:3: a task id must be text, not a list
7:7: a key of task T1 must be a word
9:12: title must be text, not a value of type binary
10:13: an entry of files must be text, not a list
11:17: depends_on must be a list, not the number 7 (write [7])
12:13: points is not a number relay can read
13:22: timeout_minutes cannot be 9.99999999e+08 (write minutes, at most a year of them)
14:27: an acceptance criterion must be text, not a list`,
	},
	{
		"tasks as a list", "version: 2\nid: 20260111-x\ntitle: X\ntasks:\n  - title: a\n",
		"5:3: tasks must be a mapping, not a list (write tasks: with T1:, T2:, … indented below it)",
	},
	{"task without a title", head + "  T1:\n  T2: {title: ''}\n  T3: hello\n", `5:3: task T1 has no title (add title: and a few words)
6:15: task T2 has no title (add title: and a few words)
7:7: task T3 must be a mapping, not the text "hello" (write title: and the rest indented below the id)`},
	{
		"task ids", head + "  ../x: {title: a}\n  1a: {title: a}\n  t2: {title: a}\n  T2: {title: a}\n  " + strings.Repeat("a", 33) + ": {title: a}\n",
		`5:3: task id "../x" is not allowed (start with a letter, then letters, digits, _ or -, at most 32 characters, as in T1)
6:3: task id "1a" is not allowed (start with a letter, then letters, digits, _ or -, at most 32 characters, as in T1)
8:3: task ids "t2" and "T2" differ only in upper and lower case (choose ids that differ by more than case: they become folder names)
9:3: task id "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" is not allowed (start with a letter, then letters, digits, _ or -, at most 32 characters, as in T1)`,
	},
	{
		"values", head + "  T1:\n    title: a\n    priority: urgent\n    points: -1\n    kind: bug\n    timeout_minutes: 0\n    max_attempts: 1.5\n    budget_usd: -2\n  T2: {title: b, priority: 1, points: .nan}\n",
		`7:15: priority "urgent" is not known (use p0, p1, p2 or p3)
8:13: points cannot be -1 (use a number from 0 up, such as 2)
9:11: kind "bug" is not known (use feature, bugfix, review, chore, verify or person)
10:22: timeout_minutes cannot be 0 (write a number above 0, or leave the key out for the configured limit)
11:19: max_attempts cannot be 1.5 (write a whole number, such as 3)
12:17: budget_usd cannot be -2 (write a number above 0, or leave the key out for the configured limit)
13:28: priority "1" is not known (write p1)
13:39: points cannot be NaN (use a number from 0 up, such as 2)`,
	},
	{
		"paths", head + "  T1:\n    title: a\n    files: [/etc/passwd, ../x, a/../../b, 'C:\\x', 'src\\a.go', '', 'a[', '{..,b}/c']\n    protected: [..]\n",
		`7:13: path "/etc/passwd" is absolute (write it relative to the root of the repository)
7:26: path "../x" leaves the repository (take the .. out)
7:32: path "a/../../b" leaves the repository (take the .. out)
7:43: path "C:\\x" is absolute (write it relative to the root of the repository)
7:51: path "src\\a.go" contains \ (write paths with /)
7:63: path is empty (name a file or a glob, or take the entry out)
7:67: path "a[" is not a well-formed glob (close the bracket, or write \[ or \{ when it belongs to the name)
7:73: path "{..,b}/c" leaves the repository (take the .. out)
8:17: path ".." leaves the repository (take the .. out)`,
	},
	{
		"control character in a path", head + "  T1: {title: a, files: [\"a\\tb\"]}\n",
		`5:26: path "a\tb" contains a control character (take the character out)`,
	},
	{
		"dependencies", head + "  setup: {title: a}\n  T2: {title: b, depends_on: [T2, setpu, T9]}\n",
		`6:31: task T2 depends on itself (take the entry out)
6:35: task T2 depends on setpu, which does not exist (did you mean setup?)
6:42: task T2 depends on T9, which does not exist (the tasks are setup, T2)`,
	},
	{
		"cycle", head + "  T1: {title: a, depends_on: [T3]}\n  T2: {title: b, depends_on: [T1]}\n  T3: {title: c, depends_on: [T1]}\n  T4: {title: d, depends_on: [T3]}\n",
		"5:31: dependency cycle: T1 -> T3 -> T1 (take one of these dependencies out)",
	},
	{
		"two cycles", head + "  T1: {title: a, depends_on: [T2]}\n  T2: {title: b, depends_on: [T1]}\n  T3: {title: c, depends_on: [T2, T4]}\n  T4: {title: d, depends_on: [T5]}\n  T5: {title: e, depends_on: [T3]}\n",
		`5:31: dependency cycle: T1 -> T2 -> T1 (take one of these dependencies out)
7:35: dependency cycle: T3 -> T4 -> T5 -> T3 (take one of these dependencies out)`,
	},
	{
		"cycle through groups", head + "  T1: {title: a, depends_on: [T2]}\n  T2: {title: b}\nparallelization:\n  - {group: A, tasks: [T1]}\n  - {group: B, tasks: [T2], blocked_by: [A]}\n",
		`5:31: dependency cycle: T1 -> T2 -> T1 (group "B" is blocked by group "A")`,
	},
	{
		"group cycle", head + "  T1: {title: a}\nparallelization:\n  - {group: A, tasks: [T1], blocked_by: [B]}\n  - {group: B, blocked_by: [A]}\n",
		"7:42: groups wait for each other: A -> B -> A (take one of these names out of blocked_by)",
	},
	{
		"groups", head + "  T1: {title: a}\nparallelization:\n  - {group: Alpha, tasks: [T1, T7], blocked_by: [Alpha, alfa]}\n  - {group: B, tasks: [T1]}\n  - {group: B}\n  - {tasks: []}\n  - x\n",
		`7:32: group "Alpha" names task T7, which does not exist (the tasks are T1)
7:50: group "Alpha" is blocked by itself (take the entry out)
7:57: group "Alpha" is blocked by "alfa", which does not exist (the groups are Alpha, B)
8:24: task T1 is already in group "Alpha" (a task belongs to one group)
9:5: group "B" is defined twice (give each group a name of its own)
10:5: the group has no name (add group: and a name)
11:5: a group must be a mapping, not the text "x" (write - group: NAME, with tasks: and blocked_by: below it)`,
	},
	{
		"checks", head + "  T1:\n    title: a\n    checks: [make, make, {name: t, run: go test}, {name: t, run: x, expect: green}, {name: u}, {rnu: x}]\n    acceptance_criteria: [{text: a, check: maek}, {check: t}, {Returns 404: not found}, '']\n",
		`7:20: two checks are called "make" (give each check a name of its own)
7:51: expect "green" is not known (use pass or red_then_green)
7:51: two checks are called "t" (give each check a name of its own)
7:85: the check has nothing to run (add run: and a shell command)
7:97: unknown key rnu in the check (did you mean run?)
8:27: the acceptance criterion names the unknown check "maek" (did you mean make?)
8:51: the acceptance criterion is empty (say what has to be true, or take the entry out)
8:64: unknown key "Returns 404" in the acceptance criterion (put text that contains ": " in quotes)
8:89: the acceptance criterion is empty (say what has to be true, or take the entry out)`,
	},
	{
		"an epic's check that must fail first", strings.Replace(head, "tasks:", "checks: [make, {run: x, expect: red_then_green}]\ntasks:", 1) + "  T1: {title: a}\n",
		"4:16: a check of the epic holds for every task: it cannot have to fail before each of them (take expect out, or move the check to the task that makes it pass)",
	},
	{
		"criterion of another check", head + "  T1: {title: a, acceptance_criteria: [{text: a, check: lint}]}\n  T2: {title: a, checks: [make], acceptance_criteria: [{text: a, check: lint}]}\n",
		`5:40: the acceptance criterion names the unknown check "lint" (the task has no checks)
6:56: the acceptance criterion names the unknown check "lint" (the task's checks are make)`,
	},
	{"second document", head + "  T1: {title: a}\n---\nversion: 2\n", "6:1: the file has a second YAML document (take the line with --- out, and what follows it)"},
	{"tab", head + "  T1:\n\ttitle: a\n", "6:1: YAML: found character that cannot start any token (YAML does not indent with tabs: use spaces)"},
	{"indentation", head + "  T1:\n    title: a\n   points: 1\n", "7:4: YAML: did not find expected key (look at the indentation of this line and the one before, and for a bracket that is not closed)"},
	{"colon in text", head + "  T1:\n    title: a: b\n", `6:5: YAML: mapping values are not allowed in this context (correct the indentation, or put text that contains ": " in quotes)`},
	{"special character", head + "  T1: {title: @a}\n", "5:3: YAML: found character that cannot start any token (put text that begins with a special character in quotes)"},
	{"escape", head + "  T1: {title: \"C:\\d\"}\n", "5:3: YAML: found unknown escape character (use single quotes, in which a backslash is a backslash)"},
	{"open quote", head + "  T1:\n    title: \"a\n    points: 1\n", "6:5: YAML: found unexpected end of stream (a quote or bracket that begins here is never closed)"},
	{"unknown anchor", head + "  T1: {title: a, files: *nope}\n", `5:25: unknown anchor "nope" (define it above with &nope)`},
	{"anchor in itself", head + "  T1: {title: a, files: &f [*f]}\n", "5:29: the alias f stands for too many values, or contains itself (write the values out)"},
	{
		"alias bomb", "version: 2\nid: 20260111-x\ntitle: X\na: &a [x,x,x,x,x,x,x,x,x,x]\n" + bomb() + "tasks: {T1: {title: a}}\n",
		"9:8: the alias e stands for too many values, or contains itself (write the values out)",
	},
	{
		"alias of much text", "version: 2\nid: 20260111-x\ntitle: X\ndescription: &a " + strings.Repeat("x", 2<<20) + "\ntasks:\n  T1: {title: a, files: [" + strings.Repeat("*a,", 9000) + "]}\n",
		"6:53: the alias a stands for too many values, or contains itself (write the values out)",
	},
	{"NUL", head + "  T1: {title: \"a\x00b\"}\n", "5:3: YAML: control characters are not allowed (save the file as UTF-8; in double quotes a control character can be written as an escape)"},
	{"control character", head + "  T1: {title: \"a\x01b\"}\n", "5:3: YAML: control characters are not allowed (save the file as UTF-8; in double quotes a control character can be written as an escape)"},
	{"a setting", head + "  T1: {title: a}\nquality_gate: {}\n", "6:1: unknown key quality_gate in the epic (quality_gate is a setting: it belongs into .agents.yml)"},
	{"bytes", head + "  T1: {title: \"ä\xff\"}\n", "5:3: YAML: invalid leading UTF-8 octet (save the file as UTF-8; in double quotes a control character can be written as an escape)"},
	{"UTF-16", "\xff\xfev\x00", "1:1: the file is UTF-16 (save it as UTF-8)"},
	{"depth", "version: " + strings.Repeat("[", 20_000), "1:1: YAML: exceeded max depth of 10000 (no more than five levels are needed)"},
	{"size", strings.Repeat("#", MaxSize+1), "1:1: the file is larger than 16 MiB (split the epic, or move long descriptions into files that the tasks name)"},
	{"merge key", head + "  T1: &t {title: a}\n  T2: {title: b, <<: *t}\n", "6:18: merge keys (<<) are not read here (write the keys out, or use an alias for the whole value)"},
	{"escapes in ids", head + "  \"T\\e[31m\": {title: \"a\\nb\"}\n", `5:3: task id "T\x1b[31m" is not allowed (start with a letter, then letters, digits, _ or -, at most 32 characters, as in T1)
5:22: the title of task "T\x1b[31m" has more than one line (put the rest into description:)`},
}

func bomb() string {
	var b strings.Builder
	for c := 'b'; c <= 'i'; c++ {
		fmt.Fprintf(&b, "%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 10), ","))
	}
	return b.String()
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, test := range mistakes {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Read("epic.yml", []byte(test.src))
			if err == nil {
				t.Fatal("no error")
			}
			if got := strings.ReplaceAll(err.Error(), "epic.yml:", ""); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// What did not come from YAML is held to the same.
func TestValidate(t *testing.T) {
	t.Parallel()
	e := &Epic{Version: 2, ID: "20260111-x", Title: "X", Tasks: []Task{
		{
			ID: "T1", Title: "a", Kind: "bug", Priority: 7, MaxAttempts: -1, Timeout: -time.Minute, BudgetUSD: -1,
			Checks: []Check{{Name: "c", Run: "a\x00b", Timeout: -time.Minute, Expect: ExpectPass}, {Name: "d", Run: "PW=[redacted A] b", Expect: ExpectPass}},
		},
	}}
	err := Validate("plan.md", e, func(Ref) Place { return Place{Line: 1, Column: 1} })
	want := `plan.md:1:1: kind "bug" is not known (use feature, bugfix, review, chore, verify or person)
plan.md:1:1: priority 7 is not known (use p0, p1, p2 or p3)
plan.md:1:1: max_attempts cannot be -1 (use 1 or more)
plan.md:1:1: timeout cannot be -1m0s (use a number of minutes above 0)
plan.md:1:1: budget_usd cannot be -1 (use a number of dollars above 0)
plan.md:1:1: the check's command contains NUL (take the character out)
plan.md:1:1: timeout cannot be -1m0s (use a number of minutes above 0)
plan.md:1:1: the check's command contains a redacted secret (put the value back, or a variable that has it)`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
