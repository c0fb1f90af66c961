package epic

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"relay/epic/pattern"
)

// The keys of epic.yml, in the order in which Encode writes them.
//
//nolint:gochecknoglobals // tables
var (
	epicKeys      = keysOf[Epic]("", "")
	taskKeys      = keysOf[Task]("", "")
	groupKeys     = keysOf[Group]("", "")
	checkKeys     = keysOf[Check]("checks", "a check")
	criterionKeys = keysOf[Criterion]("acceptance_criteria", "an acceptance criterion")

	Kinds        = []string{"feature", "bugfix", "review", "chore", "verify", "person"}
	expectations = []string{string(ExpectPass), string(ExpectRedThenGreen)}
	priorities   = []string{"p0", "p1", "p2", "p3"}
)

// defaultPriority is that of a task whose file does not say.
const defaultPriority = 2

// unreadable stands in for a value that has been reported, so that validation does not report it again as missing.
const unreadable = "?"

// standIns are the values of required texts that have been reported, so that validation does not report them again as missing.
var standIns = map[string]string{"id": "unreadable", "title": unreadable, "run": unreadable, "text": unreadable, "group": unreadable}

// set reads the value of a key into a field.
func (r *reader) set(field any, key string, n *yaml.Node, at *places) {
	at.add(Field(key), placeOf(n))
	switch v := field.(type) {
	case *string:
		if *v = optionalText(r.problems, n, key, standIns[key]); key == "title" {
			*v = strings.TrimSpace(*v) // of the line break that one written as a block ends in
		}
	case *Kind:
		*v = Kind(cmp.Or(optionalText(r.problems, n, key, ""), string(*v)))
	case *Expect:
		*v = Expect(optionalText(r.problems, n, key, ""))
	case *bool:
		*v = boolean(r.problems, n, key)
	case *time.Duration:
		*v = minutes(r.problems, n, key)
	case *float64:
		if key == "points" {
			*v, _ = number(r.problems, n, key)
		} else {
			*v, _ = positive(r.problems, n, key)
		}
	case *int:
		r.whole(v, key, n)
	default:
		r.setList(field, key, n, at)
	}
}

// setList reads a list, or the tasks, into a field.
func (r *reader) setList(field any, key string, n *yaml.Node, at *places) {
	switch v := field.(type) {
	case *[]string:
		*v = r.texts(n, key, at)
		for k := range *v {
			if key == "files" || key == "protected" {
				(*v)[k] = pattern.CleanPath((*v)[k])
			}
		}
	case *[]Check:
		*v = entries(r, n, checkKeys, at, func(c *Check) *string { return &c.Run })
		for k := range *v {
			c := &(*v)[k]
			c.Name, c.Expect = cmp.Or(c.Name, c.Run), cmp.Or(c.Expect, ExpectPass)
		}
	case *[]Criterion:
		*v = entries(r, n, criterionKeys, at, func(c *Criterion) *string { return &c.Text })
	case *[]Group:
		*v = r.groups(n)
	case *[]Task:
		at.values[FieldTasks][0] = at.keys[key]
		r.tasks(n)
	}
}

// whole reads a number without a fraction.
func (r *reader) whole(v *int, key string, n *yaml.Node) {
	switch key {
	case "version":
		r.version(n)
	case "priority":
		r.priority(v, n)
	default:
		value, ok := positive(r.problems, n, key)
		if ok && (value != math.Trunc(value) || value > 1000) {
			r.problems.add(placeOf(n), "write a whole number, such as 3", "%s cannot be %v", key, value)
		}
		*v = int(min(value, 1000))
	}
}

// entries reads a list whose entries are mappings, or text that is the value of one of their keys.
func entries[T any](r *reader, n *yaml.Node, known keys, at *places, text func(*T) *string) []T {
	nodes := entriesOf(r.problems, n, known.list)
	if len(nodes) == 0 {
		return nil
	}
	list := make([]T, len(nodes))
	for k, item := range nodes {
		value, before := text(&list[k]), r.problems.count()
		if Follow(item).Kind == yaml.MappingNode {
			_, name, _ := strings.Cut(known.entry, " ")
			r.mapping(item, known, "the "+name, newPlaces(Place{}), &list[k])
		} else {
			*value, _ = textOf(r.problems, item, known.entry)
		}
		if *value == "" && r.problems.count() > before {
			*value = unreadable
		}
		at.add(Field(known.list), placeOf(item))
	}
	return list
}

func (r *reader) groups(n *yaml.Node) (groups []Group) {
	for _, item := range entriesOf(r.problems, n, "parallelization") {
		at := newPlaces(placeOf(item))
		if Follow(item).Kind != yaml.MappingNode {
			r.problems.add(at.whole, "write - group: NAME, with tasks: and blocked_by: below it", "a group must be a mapping, not %s", KindOf(item))
			continue
		}
		var g Group
		r.mapping(item, groupKeys, "the group", at, &g)
		groups, r.groupAt = append(groups, g), append(r.groupAt, at)
	}
	return groups
}

// optionalText reads text that may be empty; it returns other when the value is not text at all.
func optionalText(p *problemList, n *yaml.Node, what, other string) string {
	if IsNull(n) {
		return ""
	}
	if s, ok := textOf(p, n, what); ok {
		return s
	}
	return other
}

func (r *reader) version(n *yaml.Node) {
	value, ok := number(r.problems, n, "version")
	switch {
	case !ok && !IsNull(n):
		r.epic.Version = 2 // reported already
	case value != math.Trunc(value) || math.Abs(value) > 1e6:
		r.problems.add(placeOf(n), "write version: 2", "version %v is not one this relay can read (1 and 2)", value)
		r.epic.Version = 2
	default:
		r.epic.Version = int(value)
	}
}

func (r *reader) tasks(n *yaml.Node) {
	if IsNull(n) {
		parts := r.parts
		r.parts = nil
		for i, part := range parts {
			root, err := Document("", part.text)
			if err != nil || root == nil {
				r.problems.add(Place{}, "", "a part of the tasks is not valid: %v", err)
				return
			}
			r.before = part.line
			r.tasks(root)
			r.epic.Tasks = slices.Grow(r.epic.Tasks, len(r.epic.Tasks)/(i+1)*(len(parts)-i-1))
		}
		return
	}
	at, n := placeOf(n), Follow(n)
	if n.Kind != yaml.MappingNode {
		r.problems.add(at, "write tasks: with T1:, T2:, … indented below it", "tasks must be a mapping, not %s", KindOf(n))
		r.tasksLost = true
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		r.oneTask(n.Content[i], n.Content[i+1])
		if n.Anchor == "" {
			n.Content[i], n.Content[i+1] = nil, nil // the nodes of a task are freed when it has been read
		}
	}
}

func (r *reader) oneTask(key, value *yaml.Node) {
	at := &places{whole: placeOf(key), keys: r.task.keys, values: r.task.values}
	clear(at.keys)
	for field, list := range at.values {
		at.values[field] = list[:0]
	}
	key = Follow(key)
	if key.Kind != yaml.ScalarNode {
		r.problems.add(at.whole, "", "a task id must be text, not %s", KindOf(key))
		return
	}
	t := Task{ID: key.Value, Kind: KindFeature, Priority: defaultPriority, Line: r.before + at.whole.Line}
	switch {
	case Follow(value).Kind == yaml.MappingNode:
		r.mapping(value, taskKeys, "task "+quotedTask(t.ID), at, &t)
	case !IsNull(value):
		r.problems.add(placeOf(value), "write title: and the rest indented below the id", "task %s must be a mapping, not %s", quotedTask(t.ID), KindOf(value))
		t.Title = unreadable
	}
	r.epic.Tasks, r.taskAt = append(r.epic.Tasks, t), append(r.taskAt, at)
	r.check.task(len(r.epic.Tasks) - 1)
	at.keys, at.values = nil, nil
}

// positive reads a number above zero. Zero is refused: one reader takes it for "none", another for "no limit".
func positive(p *problemList, n *yaml.Node, what string) (float64, bool) {
	value, ok := number(p, n, what)
	if ok && !(value > 0 && value <= math.MaxFloat64) {
		p.add(placeOf(n), "write a number above 0, or leave the key out for the configured limit", "%s cannot be %v", what, value)
		return 0, false
	}
	return value, ok
}

// maxTimeout is one year: longer than any night, and short enough for every sum of times.
const maxTimeout = 365 * 24 * time.Hour

// minutes reads a time limit, to the millisecond.
func minutes(p *problemList, n *yaml.Node, what string) time.Duration {
	value, ok := positive(p, n, what)
	if !ok {
		return 0
	}
	ms := math.Round(value * 60_000)
	if ms < 1 || ms > float64(maxTimeout/time.Millisecond) {
		p.add(placeOf(n), "write minutes, at most a year of them", "%s cannot be %v", what, value)
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

func (r *reader) priority(v *int, n *yaml.Node) {
	s := optionalText(r.problems, n, "priority", priorities[defaultPriority])
	if s == "" {
		return
	}
	if p := slices.Index(priorities, s); p >= 0 {
		*v = p
		return
	}
	hint := "use p0, p1, p2 or p3"
	if p, err := strconv.Atoi(s); err == nil && p >= 0 && p <= 3 {
		hint = "write " + priorities[p]
	}
	r.problems.add(placeOf(n), hint, "priority %s is not known", Quoted(s))
}
