package epic

import (
	"math"
	"slices"
	"strings"

	"relay/epic/each"
)

// Ref names one part of an epic, so that whoever read it can say where it stands in the file.
type Ref struct {
	Part  Part
	N     int // which task or group, from 0
	Field Field
	Item  int // which entry of a list, from 0
}

// Part names the part of an epic that a Ref points into.
type Part uint8

// The parts of an epic.
const (
	EpicPart Part = iota
	TaskPart
	GroupPart
)

// Field is one key of an epic, a task or a group.
type Field string

// The fields that can be at fault. FieldWhole is the thing itself: its name or its first line.
const (
	FieldWhole       Field = ""
	FieldVersion     Field = "version"
	FieldID          Field = "id"
	FieldTitle       Field = "title"
	FieldKind        Field = "kind"
	FieldPriority    Field = "priority"
	FieldPoints      Field = "points"
	FieldFiles       Field = "files"
	FieldDependsOn   Field = "depends_on"
	FieldCriteria    Field = "acceptance_criteria"
	FieldChecks      Field = "checks"
	FieldProtected   Field = "protected"
	FieldTimeout     Field = "timeout_minutes"
	FieldMaxAttempts Field = "max_attempts"
	FieldBudget      Field = "budget_usd"
	FieldTasks       Field = "tasks" // of the epic, or the members of a group
	FieldBlockedBy   Field = "blocked_by"
)

// Validate finds everything wrong with an epic that did not come from YAML. The place of every mistake is asked of at.
// The error is Problems.
func Validate(file string, e *Epic, at func(Ref) Place) error {
	v := validator{problems: &problemList{file: file}, epic: e, at: at}
	v.header()
	for i := range v.epic.Tasks {
		v.task(i)
	}
	v.links()
	return v.problems.err()
}

// links checks what the parts of an epic say of each other.
func (v *validator) links() {
	if len(v.epic.Tasks) == 0 {
		v.problems.add(v.at(Ref{Field: FieldTasks}), "add at least one task under tasks:", "the epic has no tasks")
	}
	buildGraph(v)
}

// validator checks what an epic says, wherever it was read from.
type validator struct {
	problems *problemList
	epic     *Epic
	at       func(Ref) Place
}

// maxPoints keeps the sum over any path a number that arithmetic still understands.
const maxPoints = 1_000_000

func (v *validator) header() {
	e, part := v.epic, Ref{}
	at := func(f Field) Place { part.Field = f; return v.at(part) }
	if e.Version == 0 {
		v.problems.add(at(FieldVersion), "write version: 2", "the version is missing")
	} else if e.Version != 1 && e.Version != 2 {
		v.problems.add(at(FieldVersion), "write version: 2", "version %d is not one this relay can read (1 and 2)", e.Version)
	}
	if fault, hint := epicIDFault(e.ID); fault != "" {
		v.problems.add(at(FieldID), hint, "%s", fault)
	}
	v.title(at(FieldTitle), e.Title, "the epic")
	v.checks(part, e.Checks)
	for k, c := range e.Checks {
		if c.Expect == ExpectRedThenGreen { // with the first task that lands it would be green, and gate all others
			v.problems.add(v.at(Ref{Field: FieldChecks, Item: k}), "take expect out, or move the check to the task that makes it pass", "a check of the epic holds for every task: it cannot have to fail before each of them")
		}
	}
	v.paths(Ref{Field: FieldProtected}, e.Protected)
}

func (v *validator) task(i int) {
	t, part := &v.epic.Tasks[i], Ref{Part: TaskPart, N: i}
	at := func(f Field) Place { part.Field = f; return v.at(part) }
	if fault, hint := taskIDFault(t.ID); fault != "" {
		v.problems.add(at(FieldID), hint, "%s", fault)
	}
	v.title(at(FieldTitle), t.Title, "task "+t.ID)
	if !slices.Contains(Kinds, string(t.Kind)) {
		v.problems.add(at(FieldKind), v.problems.didYouMean(string(t.Kind), Kinds, "use feature, bugfix, review, chore, verify or person"), "kind %s is not known", Quoted(string(t.Kind)))
	}
	if t.Priority < 0 || t.Priority > 3 {
		v.problems.add(at(FieldPriority), "use p0, p1, p2 or p3", "priority %d is not known", t.Priority)
	}
	if math.IsNaN(t.Points) || t.Points < 0 || t.Points > maxPoints {
		v.problems.add(at(FieldPoints), "use a number from 0 up, such as 2", "points cannot be %v", t.Points)
	}
	if t.MaxAttempts < 0 {
		v.problems.add(at(FieldMaxAttempts), "use 1 or more", "max_attempts cannot be %d", t.MaxAttempts)
	}
	if t.Timeout < 0 {
		v.problems.add(at(FieldTimeout), "use a number of minutes above 0", "timeout cannot be %v", t.Timeout)
	}
	if math.IsNaN(t.BudgetUSD) || math.IsInf(t.BudgetUSD, 0) || t.BudgetUSD < 0 {
		v.problems.add(at(FieldBudget), "use a number of dollars above 0", "budget_usd cannot be %v", t.BudgetUSD)
	}
	v.paths(Ref{TaskPart, i, FieldFiles, 0}, t.Files)
	v.paths(Ref{TaskPart, i, FieldProtected, 0}, t.Protected)
	v.checks(part, t.Checks)
	checkCriteria(v, part, t)
}

func (v *validator) title(at Place, title, of string) {
	switch {
	case strings.TrimSpace(title) == "":
		v.problems.add(at, "add title: and a few words", "%s has no title", quotedID(of))
	case strings.ContainsAny(title, "\n\r"):
		v.problems.add(at, "put the rest into description:", "the title of %s has more than one line", quotedID(of))
	}
}

func (v *validator) paths(part Ref, paths []string) {
	for k, p := range paths {
		if fault, hint := pathFault(p); fault != "" {
			part.Item = k
			v.problems.add(v.at(part), hint, "%s", fault)
		}
	}
}

func (v *validator) checks(part Ref, checks []Check) {
	part.Field = FieldChecks
	for k, c := range checks {
		part.Item = k
		switch {
		case strings.TrimSpace(c.Run) == "":
			v.problems.add(v.at(part), "add run: and a shell command", "the check has nothing to run")
			continue
		case strings.ContainsRune(c.Run, 0):
			v.problems.add(v.at(part), "take the character out", "the check's command contains NUL")
		case strings.Contains(c.Run, "[redacted "):
			v.problems.add(v.at(part), "put the value back, or a variable that has it", "the check's command contains a redacted secret")
		}
		if c.Timeout < 0 {
			v.problems.add(v.at(part), "use a number of minutes above 0", "timeout cannot be %v", c.Timeout)
		}
		if c.Expect != ExpectPass && c.Expect != ExpectRedThenGreen {
			v.problems.add(v.at(part), v.problems.didYouMean(string(c.Expect), expectations, "use pass or red_then_green"),
				"expect %s is not known", Quoted(string(c.Expect)))
		}
	}
	checkNames(v, part, checks)
}

// checkNames reports checks that share a name.
func checkNames(v *validator, part Ref, checks []Check) {
	seen := make(map[string]bool, len(checks))
	for k, c := range checks {
		if seen[c.Name] && strings.TrimSpace(c.Name) != "" {
			part.Item = k
			v.problems.add(v.at(part), "give each check a name of its own", "two checks are called %s", Quoted(c.Name))
		}
		seen[c.Name] = true
	}
}

func checkCriteria(v *validator, part Ref, t *Task) {
	part.Field = FieldCriteria
	for k, c := range t.Criteria {
		part.Item = k
		if strings.TrimSpace(c.Text) == "" {
			v.problems.add(v.at(part), "say what has to be true, or take the entry out", "the acceptance criterion is empty")
		}
		if c.Check == "" || slices.ContainsFunc(t.Checks, func(check Check) bool { return check.Name == c.Check }) {
			continue
		}
		names := each.Of(t.Checks, func(check Check) string { return check.Name })
		fallback := "the task has no checks"
		if len(names) > 0 {
			fallback = "the task's checks are " + listed(names)
		}
		v.problems.add(v.at(part), v.problems.didYouMean(c.Check, names, fallback), "the acceptance criterion names the unknown check %s", Quoted(c.Check))
	}
}

// quotedID keeps an id that is not allowed from reaching a terminal as it is.
func quotedID(of string) string {
	id, found := strings.CutPrefix(of, "task ")
	if !found || taskID.MatchString(id) {
		return of
	}
	return "task " + Quoted(id)
}
