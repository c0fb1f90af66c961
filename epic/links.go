package epic

import (
	"maps"
	"slices"
	"strings"
)

// maxImplied bounds the dependencies that groups may imply.
const maxImplied = 5_000_000

// buildGraph resolves every name in the epic, reports what does not fit to v, and returns the graph, or nil when it is cyclic.
func buildGraph(v *validator) *Graph {
	n := len(v.epic.Tasks)
	g := &Graph{ids: make([]string, n), index: make(map[string]int, n), named: make([][]int, n), deps: make([][]int, n)}
	v.indexTasks(g)
	v.resolveGroups(g)
	v.resolveDeps(g)
	if !g.arrange(v.epic) {
		reportCycles(v, g)
		return nil
	}
	return g
}

func (v *validator) indexTasks(g *Graph) {
	folded := make(map[string]int, len(v.epic.Tasks))
	for i := range v.epic.Tasks {
		id := v.epic.Tasks[i].ID
		g.ids[i] = id
		at := Ref{TaskPart, i, FieldID, 0}
		if first, again := g.index[id]; again {
			v.problems.add(v.at(at), "give each task an id of its own", "task %s is defined twice, first on line %d",
				Quoted(id), v.at(Ref{TaskPart, first, FieldID, 0}).Line)
			continue
		}
		g.index[id] = i
		lower := strings.ToLower(id)
		if first, again := folded[lower]; again {
			v.problems.add(v.at(at), "choose ids that differ by more than case: they become folder names",
				"task ids %s and %s differ only in upper and lower case", Quoted(g.ids[first]), Quoted(id))
			continue
		}
		folded[lower] = i
	}
}

// resolveDeps adds the tasks that each names to those that its group implies.
func (v *validator) resolveDeps(g *Graph) {
	for i := range v.epic.Tasks {
		t := &v.epic.Tasks[i]
		for k, id := range t.DependsOn {
			j, ok := g.index[id]
			at := Ref{TaskPart, i, FieldDependsOn, k}
			_, implied := slices.BinarySearch(g.deps[i], j)
			switch {
			case !ok:
				v.problems.add(v.at(at), v.problems.didYouMean(id, g.ids, "the tasks are "+listed(g.ids)), "task %s depends on %s, which does not exist", quotedTask(t.ID), quotedTask(id))
			case j == i:
				v.problems.add(v.at(at), "take the entry out", "task %s depends on itself", quotedTask(t.ID))
			case !implied && !slices.Contains(g.named[i], j):
				g.named[i] = append(g.named[i], j)
			}
		}
		g.deps[i] = joined(g.named[i], g.deps[i])
	}
}

// joined returns both lists as one; the tasks of a group share theirs.
func joined(a, b []int) []int {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	return slices.Concat(a, b)
}

// quotedTask returns an id as it goes into a message: plain when it is well-formed.
func quotedTask(id string) string {
	if taskID.MatchString(id) {
		return id
	}
	return Quoted(id)
}

// resolveGroups fills the groups, and the dependencies that they imply.
func (v *validator) resolveGroups(g *Graph) {
	groups := v.epic.Groups
	byName := make(map[string]int, len(groups))
	for k, group := range groups {
		at := Ref{GroupPart, k, FieldWhole, 0}
		_, again := byName[group.Name]
		switch {
		case strings.TrimSpace(group.Name) == "":
			v.problems.add(v.at(at), "add group: and a name", "the group has no name")
		case again:
			v.problems.add(v.at(at), "give each group a name of its own", "group %s is defined twice", Quoted(group.Name))
		default:
			byName[group.Name] = k
		}
	}
	g.groups = make([]groupNode, len(groups))
	groupOf, waitsFor := map[int]int{}, make([][]int, len(groups))
	for k := range groups {
		resolveMembers(v, g, groupOf, k)
		resolveBlockers(v, g, k, byName)
		waitsFor[k] = g.groups[k].blockedBy
	}
	if reportGroupCycles(v, waitsFor) {
		// The groups' order means nothing now; the tasks' own dependencies can still be judged.
		g.groups = nil
		return
	}
	implied := 0
	for _, k := range topological(waitsFor, reversed(waitsFor)) {
		deps := follow(g.groups, k)
		if implied += len(deps) * len(g.groups[k].tasks); implied > maxImplied {
			v.problems.add(v.at(Ref{GroupPart, k, FieldWhole, 0}), "name only the nearest groups in blocked_by",
				"the groups imply more than %d dependencies", maxImplied)
			g.groups = nil
			return
		}
		for _, i := range g.groups[k].tasks {
			g.deps[i] = deps
		}
	}
}

// follow settles which groups with tasks a group waits for, and returns these tasks. An empty group hands on what it waits for.
func follow(groups []groupNode, k int) (deps []int) {
	group := &groups[k]
	for _, b := range group.blockedBy {
		if len(groups[b].tasks) > 0 {
			group.after = append(group.after, b)
		} else {
			group.after = append(group.after, groups[b].after...)
		}
	}
	slices.Sort(group.after)
	group.after = slices.Compact(group.after)
	for _, b := range group.after {
		deps = append(deps, groups[b].tasks...)
	}
	slices.Sort(deps)
	return deps
}

func resolveMembers(v *validator, g *Graph, groupOf map[int]int, k int) {
	for item, id := range v.epic.Groups[k].Tasks {
		at := Ref{GroupPart, k, FieldTasks, item}
		i, ok := g.index[id]
		other, taken := groupOf[i]
		switch {
		case !ok:
			v.problems.add(v.at(at), v.problems.didYouMean(id, g.ids, "the tasks are "+listed(g.ids)), "group %s names task %s, which does not exist",
				Quoted(v.epic.Groups[k].Name), quotedTask(id))
		case taken:
			v.problems.add(v.at(at), "a task belongs to one group", "task %s is already in group %s", quotedTask(id), Quoted(v.epic.Groups[other].Name))
		default:
			groupOf[i] = k
			g.groups[k].tasks = append(g.groups[k].tasks, i)
		}
	}
	slices.Sort(g.groups[k].tasks)
}

func resolveBlockers(v *validator, g *Graph, k int, byName map[string]int) {
	group := v.epic.Groups[k].Name
	for item, name := range v.epic.Groups[k].BlockedBy {
		at := Ref{GroupPart, k, FieldBlockedBy, item}
		b, ok := byName[name]
		switch {
		case !ok:
			names := slices.Sorted(maps.Keys(byName))
			v.problems.add(v.at(at), v.problems.didYouMean(name, names, "the groups are "+listed(names)), "group %s is blocked by %s, which does not exist",
				Quoted(group), Quoted(name))
		case b == k:
			v.problems.add(v.at(at), "take the entry out", "group %s is blocked by itself", Quoted(name))
		case !slices.Contains(g.groups[k].blockedBy, b):
			g.groups[k].blockedBy = append(g.groups[k].blockedBy, b)
		}
	}
}
