package epic

import (
	"maps"
	"slices"
	"strings"
)

// maxImplied bounds the dependencies that groups may imply, counted once for each group.
const maxImplied = 10_000_000

// buildGraph resolves every name in the epic, reports what does not fit to v, and returns the graph, or nil when it is cyclic.
func buildGraph(v *validator) *Graph {
	g := &Graph{ids: make([]string, len(v.epic.Tasks)), index: make(map[string]int, len(v.epic.Tasks))}
	v.indexTasks(g)
	v.resolveGroups(g)
	v.resolveDeps(g)
	g.reverse()
	if !g.arrange(v.epic) {
		v.cycles(g)
		return nil
	}
	// The nodes of groups have done their work.
	g.weight, g.level = slices.Clip(g.weight[:len(g.ids)]), slices.Clip(g.level[:len(g.ids)])
	return g
}

func (v *validator) indexTasks(g *Graph) {
	folded := make(map[string]int, len(v.epic.Tasks))
	for i := range v.epic.Tasks {
		id := v.epic.Tasks[i].ID
		g.ids[i] = id
		at := Ref{TaskPart, i, FieldID, 0}
		if first, again := g.index[id]; again {
			v.add(v.at(at), "give each task an id of its own", "task %s is defined twice, first on line %d",
				Quoted(id), v.at(Ref{TaskPart, first, FieldID, 0}).Line)
			continue
		}
		g.index[id] = i
		lower := strings.ToLower(id)
		if first, again := folded[lower]; again {
			v.add(v.at(at), "choose ids that differ by more than case: they become folder names",
				"task ids %s and %s differ only in upper and lower case", Quoted(g.ids[first]), Quoted(id))
			continue
		}
		folded[lower] = i
	}
}

func (v *validator) resolveDeps(g *Graph) {
	total := 0
	for i := range v.epic.Tasks {
		total += len(v.epic.Tasks[i].DependsOn)
	}
	g.deps = lists{start: make([]int32, 1, len(g.ids)+1), items: make([]int, 0, total)}
	stamp := newStamps(len(g.ids))
	for i := range v.epic.Tasks {
		t := &v.epic.Tasks[i]
		stamp.reset()
		for k, id := range t.DependsOn {
			j, ok := g.index[id]
			at := Ref{TaskPart, i, FieldDependsOn, k}
			switch {
			case !ok:
				v.add(v.at(at), v.didYouMean(id, g.ids, "the tasks are "+listed(g.ids)), "task %s depends on %s, which does not exist", quotedTask(t.ID), quotedTask(id))
				continue
			case j == i:
				v.add(v.at(at), "take the entry out", "task %s depends on itself", quotedTask(t.ID))
				continue
			}
			if stamp.set(j) && !g.implied(i, j) {
				g.deps.items = append(g.deps.items, j)
			}
		}
		g.deps.start = append(g.deps.start, int32(len(g.deps.items)))
	}
}

// implied tells whether i waits for j through their groups alone.
func (g *Graph) implied(i, j int) bool {
	if g.group(i) < 0 || g.group(j) < 0 {
		return false
	}
	_, found := slices.BinarySearch(g.groups[g.group(i)].after, g.group(j))
	return found
}

// quotedTask returns an id as it goes into a message: plain when it is well-formed.
func quotedTask(id string) string {
	if taskID.MatchString(id) {
		return id
	}
	return Quoted(id)
}

// reverse fills rev from deps; every list comes out in file order.
func (g *Graph) reverse() {
	start := make([]int32, len(g.ids)+1)
	for _, j := range g.deps.items {
		start[j+1]++
	}
	for i := range g.ids {
		start[i+1] += start[i]
	}
	items := make([]int, len(g.deps.items))
	fill := slices.Clone(start)
	for i := range g.ids {
		for _, j := range g.deps.at(i) {
			items[fill[j]] = i
			fill[j]++
		}
	}
	g.rev = lists{start, items}
}

func (v *validator) resolveGroups(g *Graph) {
	groups := v.epic.Groups
	if len(groups) == 0 {
		return
	}
	byName := make(map[string]int, len(groups))
	for k, group := range groups {
		if strings.TrimSpace(group.Name) == "" {
			v.add(v.at(Ref{GroupPart, k, FieldWhole, 0}), "add group: and a name", "the group has no name")
			continue
		}
		if _, again := byName[group.Name]; again {
			v.add(v.at(Ref{GroupPart, k, FieldWhole, 0}), "give each group a name of its own", "group %s is defined twice", Quoted(group.Name))
			continue
		}
		byName[group.Name] = k
	}
	g.groups = make([]groupNode, len(groups))
	g.groupOf = make([]int32, len(g.ids))
	for i := range g.groupOf {
		g.groupOf[i] = -1
	}
	seen := newStamps(len(groups))
	for k := range groups {
		v.members(g, k)
		seen.reset()
		v.blockers(g, k, byName, seen)
	}
	if v.groupCycles(g) {
		// The groups' order means nothing now; the tasks' own dependencies can still be judged.
		g.groups, g.groupOf = nil, nil
		return
	}
	g.share(v)
}

func (v *validator) members(g *Graph, k int) {
	for item, id := range v.epic.Groups[k].Tasks {
		at := Ref{GroupPart, k, FieldTasks, item}
		i, ok := g.index[id]
		switch {
		case !ok:
			v.add(v.at(at), v.didYouMean(id, g.ids, "the tasks are "+listed(g.ids)), "group %s names task %s, which does not exist",
				Quoted(v.epic.Groups[k].Name), quotedTask(id))
		case g.groupOf[i] >= 0:
			v.add(v.at(at), "a task belongs to one group", "task %s is already in group %s", quotedTask(id), Quoted(v.epic.Groups[g.groupOf[i]].Name))
		default:
			g.groupOf[i] = int32(k)
			g.groups[k].tasks = append(g.groups[k].tasks, i)
		}
	}
	slices.Sort(g.groups[k].tasks)
}

func (v *validator) blockers(g *Graph, k int, byName map[string]int, seen *stamps) {
	group := v.epic.Groups[k].Name
	for item, name := range v.epic.Groups[k].BlockedBy {
		at := Ref{GroupPart, k, FieldBlockedBy, item}
		b, ok := byName[name]
		switch {
		case !ok:
			names := slices.Sorted(maps.Keys(byName))
			v.add(v.at(at), v.didYouMean(name, names, "the groups are "+listed(names)), "group %s is blocked by %s, which does not exist",
				Quoted(group), Quoted(name))
		case b == k:
			v.add(v.at(at), "take the entry out", "group %s is blocked by itself", Quoted(name))
		case seen.set(b):
			g.groups[k].blockedBy = append(g.groups[k].blockedBy, b)
			g.groups[b].blocks = append(g.groups[b].blocks, k)
		}
	}
}

// share fills what the tasks of a group have in common.
func (g *Graph) share(v *validator) {
	implied := 0
	seen := newStamps(len(g.groups))
	collect := func(groups []int) []int {
		var tasks []int
		for _, b := range groups {
			tasks = append(tasks, g.groups[b].tasks...)
		}
		slices.Sort(tasks)
		implied += len(tasks)
		return tasks
	}
	for k := range g.groups {
		if implied > maxImplied {
			v.add(v.at(Ref{GroupPart, k, FieldWhole, 0}), "name only the nearest groups in blocked_by",
				"the groups imply more than %d dependencies", maxImplied)
			return
		}
		group := &g.groups[k]
		group.after = g.reach(group.blockedBy, seen, func(n *groupNode) []int { return n.blockedBy })
		slices.Sort(group.after)
		group.deps = collect(group.after)
		group.dependants = collect(g.reach(group.blocks, seen, func(n *groupNode) []int { return n.blocks }))
	}
}

// reach returns the groups with tasks among from; in the place of an empty group come those one step behind it.
func (g *Graph) reach(from []int, seen *stamps, step func(*groupNode) []int) []int {
	var found []int
	seen.reset()
	open := slices.Clone(from)
	for len(open) > 0 {
		b := open[len(open)-1]
		open = open[:len(open)-1]
		if !seen.set(b) {
			continue
		}
		if len(g.groups[b].tasks) > 0 {
			found = append(found, b)
		} else {
			open = append(open, step(&g.groups[b])...)
		}
	}
	return found
}

// stamps is a set of small numbers that is emptied without being cleared.
type stamps struct {
	mark []int32
	now  int32
}

func newStamps(n int) *stamps { return &stamps{make([]int32, n), 1} }

func (s *stamps) reset() { s.now++ }

// set adds i and tells whether it was new.
func (s *stamps) set(i int) bool {
	if s.mark[i] == s.now {
		return false
	}
	s.mark[i] = s.now
	return true
}
