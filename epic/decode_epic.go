package epic

import (
	"math"
	"reflect"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"relay/epic/globs"
)

// The keys of epic.yml, in the order in which Encode writes them.
//
//nolint:gochecknoglobals // tables
var (
	epicKeys      = keysOf[Epic]()
	taskKeys      = keysOf[Task]()
	groupKeys     = keysOf[Group]()
	checkKeys     = keysOf[Check]()
	criterionKeys = keysOf[Criterion]()

	kinds        = []string{string(KindFeature), string(KindBugfix), string(KindReview), string(KindChore), string(KindVerify)}
	expectations = []string{string(ExpectPass), string(ExpectRedThenGreen)}
	priorities   = []string{"p0", "p1", "p2", "p3"}
)

// keysOf returns the keys of the fields of a struct.
func keysOf[T any]() (keys []string) {
	for f := range reflect.TypeFor[T]().Fields() {
		if key := f.Tag.Get("yaml"); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// defaultPriority is that of a task whose file does not say.
const defaultPriority = 2

// unreadable stands in for a value that has been reported, so that validation does not report it again as missing.
const unreadable = "?"

func (r *reader) root(n *yaml.Node) {
	if resolve(n).Kind != yaml.MappingNode {
		r.fail(r.placeOf(n), "start with version: 2, id:, title: and tasks:", "an epic must be a mapping, not %s", kindOf(resolve(n)))
		return
	}
	r.mapping(n, &r.topKeys, "the epic", func(key string, value *yaml.Node, at Place) {
		e := r.epic
		switch key {
		case "version":
			r.version(value)
		case "id":
			e.ID = r.optional(value, key, "unreadable")
			r.top.field[FieldID] = r.placeOf(value)
		case "source":
			e.Source = r.optional(value, key, "")
		case "created_at":
			e.CreatedAt = r.optional(value, key, "")
		case "title":
			e.Title = trimmed(r.optional(value, key, unreadable))
			r.top.field[FieldTitle] = r.placeOf(value)
		case "description":
			e.Description = r.optional(value, key, "")
		case "bead":
			e.Bead = r.optional(value, key, "")
		case "parallelization":
			r.groups(value)
		case "checks":
			e.Checks = r.checks(value, &r.top.items[FieldChecks])
		case "protected":
			e.Protected = r.paths(value, key, &r.top.items[FieldProtected])
		case "tasks":
			r.top.field[fieldTasks] = at
			r.tasks(value)
		}
	})
}

// optional reads text that may be empty; it returns other when the value is no text at all.
func (r *reader) optional(n *yaml.Node, what, other string) string {
	if isNull(n) {
		return ""
	}
	if s, ok := r.text(n, what); ok {
		return s
	}
	return other
}

func (r *reader) version(n *yaml.Node) {
	r.top.field[FieldVersion] = r.placeOf(n)
	value, ok := r.number(n, "version")
	switch {
	case !ok && !isNull(n):
		r.epic.Version = 2 // reported already
	case value != math.Trunc(value) || math.Abs(value) > 1e6:
		r.add(r.placeOf(n), "write version: 2", "version %v is not one this relay can read (1 and 2)", value)
		r.epic.Version = 2
	default:
		r.epic.Version = int(value)
	}
}

func (r *reader) tasks(n *yaml.Node) {
	if isNull(n) {
		return
	}
	at, n := r.placeOf(n), resolve(n)
	if n.Kind != yaml.MappingNode {
		r.add(at, "write tasks: with T1:, T2:, … indented below it", "tasks must be a mapping, not %s", kindOf(n))
		r.tasksLost = true
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		r.task(n.Content[i], n.Content[i+1])
		n.Content[i], n.Content[i+1] = nil, nil // read once: the nodes of one task are freed before the last is read
	}
}

func (r *reader) task(key, value *yaml.Node) {
	at, i := r.placeOf(key), len(r.epic.Tasks)
	key = resolve(key)
	t := Task{ID: key.Value, Kind: KindFeature, Priority: defaultPriority, Line: at.Line}
	if key.Kind != yaml.ScalarNode {
		r.add(at, "", "a task id must be text, not %s", kindOf(key))
		return
	}
	r.nowTask = i
	r.now.reset(at)
	r.nowKeys.reset(taskKeys)
	switch what := resolve(value); {
	case what.Kind == yaml.MappingNode:
		r.mapping(value, &r.nowKeys, "task "+quotedTask(t.ID), func(key string, value *yaml.Node, _ Place) {
			r.taskKey(&t, key, value)
		})
	case !isNull(value):
		r.add(r.placeOf(value), "write title: and the rest indented below the id", "task %s must be a mapping, not %s", quotedTask(t.ID), kindOf(what))
		t.Title = unreadable
	}
	r.epic.Tasks = append(r.epic.Tasks, t)
	r.taskAt = append(r.taskAt, at)
	r.depFrom = append(r.depFrom, int32(len(r.depAt)))
	r.depAt = append(r.depAt, r.now.items[FieldDependsOn]...)
	r.validator.task(i)
	r.nowTask = -1
}

func (r *reader) taskKey(t *Task, key string, value *yaml.Node) {
	at := func(f Field) *[]Place {
		r.now.field[f] = r.placeOf(value)
		return &r.now.items[f]
	}
	switch key {
	case "title":
		at(FieldTitle)
		t.Title = trimmed(r.optional(value, key, unreadable))
	case "description":
		t.Description = r.optional(value, key, "")
	case "kind":
		at(FieldKind)
		if s := r.optional(value, key, ""); s != "" {
			t.Kind = knownKind(s)
		}
	case "priority":
		r.priority(t, value)
	case "files":
		t.Files = r.paths(value, key, at(FieldFiles))
	case "depends_on":
		t.DependsOn = r.texts(value, key, at(FieldDependsOn))
	case "acceptance_criteria":
		t.Criteria = r.criteria(value, at(FieldCriteria))
	case "checks":
		t.Checks = r.checks(value, at(FieldChecks))
	case "protected":
		t.Protected = r.paths(value, key, at(FieldProtected))
	case "runner":
		t.Runner = r.optional(value, key, "")
	case "model":
		t.Model = r.optional(value, key, "")
	case "allow_no_change":
		t.AllowNoChange = r.boolean(value, key)
	case "source":
		t.Source = r.optional(value, key, "")
	default:
		r.taskNumber(t, key, value)
	}
}

func (r *reader) taskNumber(t *Task, key string, value *yaml.Node) {
	switch key {
	case "points":
		r.now.field[FieldPoints] = r.placeOf(value)
		t.Points, _ = r.number(value, key)
	case "timeout_minutes":
		t.Timeout = r.minutes(value, key)
	case "max_attempts":
		n, ok := r.positive(value, key)
		if ok && (n != math.Trunc(n) || n > 1000) {
			r.add(r.placeOf(value), "write a whole number, such as 3", "max_attempts cannot be %v", n)
		}
		t.MaxAttempts = int(min(n, 1000))
	case "budget_usd":
		t.BudgetUSD, _ = r.positive(value, key)
	}
}

// positive reads a number above zero. Zero is refused: one reader takes it for "none", another for "no limit".
func (r *reader) positive(n *yaml.Node, what string) (float64, bool) {
	value, ok := r.number(n, what)
	if ok && !(value > 0 && value <= math.MaxFloat64) {
		r.add(r.placeOf(n), "write a number above 0, or leave the key out for the configured limit", "%s cannot be %v", what, value)
		return 0, false
	}
	return value, ok
}

// maxTimeout is one year: longer than any night, and short enough for every sum of times.
const maxTimeout = 365 * 24 * time.Hour

// minutes reads a time limit, to the millisecond.
func (r *reader) minutes(n *yaml.Node, what string) time.Duration {
	value, ok := r.positive(n, what)
	if !ok {
		return 0
	}
	ms := math.Round(value * 60_000)
	if ms < 1 || ms > float64(maxTimeout/time.Millisecond) {
		r.add(r.placeOf(n), "write minutes, at most a year of them", "%s cannot be %v", what, value)
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

func (r *reader) priority(t *Task, n *yaml.Node) {
	s := r.optional(n, "priority", priorities[defaultPriority])
	if s == "" {
		return
	}
	for p, name := range priorities {
		if s == name {
			t.Priority = p
			return
		}
	}
	hint := "use p0, p1, p2 or p3"
	if p, err := strconv.Atoi(s); err == nil && p >= 0 && p <= 3 {
		hint = "write " + priorities[p]
	}
	r.add(r.placeOf(n), hint, "priority %s is not known", quoted(s))
}

func (r *reader) paths(n *yaml.Node, what string, at *[]Place) []string {
	paths := r.texts(n, what, at)
	for k := range paths {
		paths[k] = globs.CleanPath(paths[k])
	}
	return paths
}

// knownKind avoids a string of its own for each task.
func knownKind(s string) Kind {
	for _, k := range kinds {
		if k == s {
			return Kind(k)
		}
	}
	return Kind(s)
}
