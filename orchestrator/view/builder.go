package view

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/orchestrator/limits"
)

// Input is what a Builder begins with.
type Input struct {
	Epic   *epic.Epic
	Graph  *epic.Graph      // of Epic
	Ledger *attempts.Ledger // as far as it is known; nil: nothing is. The builder folds later events into it
	Run    string           // the last run of the night that is wanted; "": the newest

	Running     bool        // somebody is at work on the epic: else attempts under way were interrupted. SetRunning changes it
	MaxAttempts int         // of tasks that name no number of their own
	Caps        limits.Caps // as the configuration has them; zero: those that the run began with
	Flag        string      // that names the epic to other commands, as in " --epic ID"; "": none is needed
	Refused     []Refused   // runners that would not work when they were last asked
}

// Builder keeps the model of an epic up to date, event by event. Several goroutines must not use it at once.
type Builder struct {
	in      Input
	memory  *attempts.Memory
	ledger  *attempts.Ledger // that the memory holds
	known   uint64           // the ledger began with the events up to here
	journal *Journal

	stale    bool            // something has happened since what follows was made
	touched  map[string]bool // tasks that it was about; nil: all of them, perhaps
	sections []string        // by task
	rows     []*Row          // by task
	causes   [][]string      // by task: what needs a person and keeps it from running
	frees    map[string]*freed
	changed  Changed
	money    Money
	graph    *Graph // without states; nil: not made yet
	none     Advice // of tasks that are done
}

// freed are the tasks that wait for one that needs a person.
type freed struct {
	first []string
	all   int
}

// mostNamed bounds the tasks that a row names of those that wait for it, and of those it waits for.
const mostNamed = 5

// rowsAlone is how many rows one goroutine makes before another one helps.
const rowsAlone = 1000

// New returns a builder. To know what went on before, give it the events that the ledger has as well: [attempts.Replay] has all.
func New(in Input) *Builder {
	b := &Builder{in: in, stale: true, journal: NewJournal(in.Run), rows: make([]*Row, in.Graph.Len())}
	if in.Ledger != nil {
		b.known = in.Ledger.Folded.Seq
	}
	b.memory = attempts.NewMemory(in.Graph, in.Ledger)
	b.memory.View(func(l *attempts.Ledger) { b.ledger = l })
	b.sections = make([]string, in.Graph.Len())
	for _, g := range slices.Backward(in.Epic.Groups) {
		for _, id := range g.Tasks {
			if i, ok := in.Graph.Index(id); ok {
				b.sections[i] = g.Name
			}
		}
	}
	return b
}

// Apply takes in the next event of the log: into the journal of the night, and into the ledger if it is newer than that.
func (b *Builder) Apply(e *attempts.Event) {
	b.stale = true
	if b.journal.Add(*e); e.Seq > 0 && e.Seq <= b.known {
		return // the rows have it
	}
	if b.memory.Fold(*e); e.Accepted != nil || e.RunStarted != nil || e.RunStopped != nil {
		b.touched = nil
	} else if b.touched != nil {
		b.touched[e.Task] = true
	}
}

// SetRunning says whether somebody is at work on the epic.
func (b *Builder) SetRunning(on bool) { b.in.Running, b.stale, b.touched = on, true, nil }

// Ledger returns the ledger as the builder knows it. The caller does not change it.
func (b *Builder) Ledger() *attempts.Ledger { return b.ledger }

// Journal returns what the log says of the night, as far as the builder was given its events.
func (b *Builder) Journal() *Journal { return b.journal }

// Night returns the night as it is now, without graph, timeline and forecast.
func (b *Builder) Night(now time.Time) *Night {
	b.refresh()
	n := &Night{
		At: now.UTC(), Epic: Epic{b.in.Epic.ID, b.in.Epic.Title}, Run: b.run(), Counts: Counts{}, Refused: b.in.Refused,
		Money: b.money, Changed: b.changed,
		Notes: b.journal.Notes, Failing: b.ledger.Regressed,
		Needs: []*Row{}, Working: []*Row{}, Waiting: []*Row{}, Done: make([]*Row, 0, len(b.rows)),
	}
	lists := map[Group]*[]*Row{NeedsYou: &n.Needs, Working: &n.Working, Waiting: &n.Waiting, IsDone: &n.Done}
	for i := range b.rows {
		row := b.rowAt(i, now)
		n.Counts[row.State]++
		list := lists[row.State.Group()]
		if *list = append(*list, row); row.State == Look {
			n.Done = append(n.Done, row)
		}
	}
	needs := len(n.Needs)
	n.Needs = sortNeeds(n.Needs)
	slices.SortStableFunc(n.Working, func(a, b *Row) int { return a.Since.Compare(b.Since) })
	slices.SortStableFunc(n.Waiting, func(a, b *Row) int { return cmp.Compare(rank(a.State), rank(b.State)) })
	slices.SortStableFunc(n.Done, func(a, b *Row) int { return a.Since.Compare(b.Since) })
	n.Sentence = sentenceOf(n, needs)
	return n
}

// Row returns a task as views list it; nil if the plan does not have it.
func (b *Builder) Row(id string, now time.Time) *Row {
	i, ok := b.in.Graph.Index(id)
	if !ok {
		return nil
	}
	b.refresh()
	return b.rowAt(i, now)
}

// Rows returns all tasks in the order of the plan, at a time when no agent cools.
func (b *Builder) Rows() []*Row {
	b.refresh()
	return b.rows
}

// rowAt returns the row of a task at a time: one that could start is limited while no agent for it may be asked.
func (b *Builder) rowAt(i int, now time.Time) *Row {
	row := b.rows[i]
	if row.State != Ready || !b.in.Running {
		return row
	}
	until, who := b.limit(b.in.Epic.Tasks[i].Runner, now)
	if until.IsZero() {
		return row
	}
	limited, advice := *row, *row.Advice
	limited.Advice = &advice
	limited.State, limited.Until, limited.Why = Limited, until, "waits for "+who.For+because(who.Why)
	return &limited
}

// limit returns until when no agent for a task may be asked, and which one returns first; zero: one may be asked now.
func (b *Builder) limit(only string, now time.Time) (first time.Time, who Wait) {
	names := []string{only}
	if r := b.journal.line.rules; only == "" && r != nil {
		names = r.Runners
	}
	for k, name := range names {
		c := b.ledger.Cooldowns[name]
		if !c.Until.After(now) {
			return time.Time{}, Wait{}
		}
		if k == 0 || c.Until.Before(first) {
			first, who = c.Until, Wait{Kind: AgentCools, For: name, Until: c.Until, Why: c.Why}
		}
	}
	return first, who
}

// refresh makes the rows, and what is summed of them, if something has happened.
func (b *Builder) refresh() {
	if !b.stale {
		return
	}
	b.stale = false
	b.findCauses()
	var all sync.WaitGroup
	parts := min(1+len(b.rows)/rowsAlone, runtime.GOMAXPROCS(0))
	for part := range parts {
		all.Go(func() {
			for i := part; i < len(b.rows); i += parts {
				if id := b.in.Graph.ID(i); b.touched == nil || b.touched[id] || !b.rows[i].lasts(b.frees[id]) {
					b.rows[i] = b.row(i)
				}
			}
		})
	}
	all.Wait()
	b.touched = map[string]bool{}
	b.changed, b.money = changesOf(b), MoneyOf(b.in.Epic, b.ledger, b.runsOfNight(), capsOf(b))
}

// findCauses finds what needs a person and keeps tasks from running.
func (b *Builder) findCauses() {
	b.causes, b.frees = attempts.AllRootCauses(b.ledger, b.in.Graph), map[string]*freed{}
	for i, list := range b.causes {
		if len(list) == 0 || b.ledger.Record(b.in.Graph.ID(i)).Completed {
			continue
		}
		for _, id := range list {
			f := cmp.Or(b.frees[id], &freed{})
			if f.all++; len(f.first) < mostNamed {
				f.first = append(f.first, b.in.Graph.ID(i))
			}
			b.frees[id] = f
		}
	}
}

// rank is the place of a state among the rows of its group: what waits begins with what can start.
func rank(s State) int {
	return slices.Index([]State{Asks, Gated, Held, Look, Ready, Limited, Interrupted, Blocked}, s)
}

// sortNeeds puts what needs a person in the order to do it, and puts tasks with one cause into one row.
func sortNeeds(rows []*Row) []*Row {
	slices.SortStableFunc(rows, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(b.FreesAll, a.FreesAll), cmp.Compare(rank(a.State), rank(b.State)), cmp.Compare(a.Place, b.Place))
	})
	first, list := map[string]int{}, []*Row{}
	for _, row := range rows {
		at, known := first[row.cause]
		if !known || row.cause == "" {
			first[row.cause] = len(list)
			list = append(list, row)
			continue
		}
		if len(list[at].Also) == 0 {
			leads, advice := *list[at], *list[at].Advice
			leads.Advice, list[at] = &advice, &leads
		}
		list[at].Also = append(list[at].Also, row.ID)
	}
	for _, row := range list {
		if len(row.Also) > 0 {
			forAll(row)
		}
	}
	return list
}

// run returns the newest run of the night.
func (b *Builder) run() Run {
	l := b.ledger
	r := Run{ID: l.Folded.Run, State: Never, Paused: l.Paused}
	last := OneRun{StartedAt: l.Status.StartedAt, StoppedAt: l.Status.StoppedAt, Reason: l.Status.LastExitReason, Why: l.Why, Until: l.Until}
	if l.Status.State == "stopped" {
		last.ExitCode = &l.Status.LastExitCode
	}
	r.Began = last.StartedAt
	if n := len(b.journal.Session); n > 0 {
		one := b.journal.Session[n-1]
		last, r.ID, r.Runs, r.Began, r.Jobs = one.OneRun, one.ID, n, b.journal.Session[0].StartedAt, one.Jobs
		if last.StoppedAt.IsZero() {
			r.EndedAt = one.Seen
		}
	} else if l.Status.State == "" && !b.in.Running {
		return Run{State: Never}
	}
	switch {
	case b.in.Running && b.in.Run == "":
		r.State, r.EndedAt, r.Until = On, time.Time{}, last.Until
		if w := l.Waiting; w != nil {
			r.Waits = &Wait{Kind: RunWaits, For: w.For, Until: w.Until, Why: w.Why}
		}
	case last.ExitCode == nil:
		r.State = Killed
	default:
		r.State, r.EndedAt, r.ExitCode, r.Reason, r.Why = Ended, last.StoppedAt, last.ExitCode, last.Reason, last.Why
	}
	return r
}

// Graph returns the plan with the states of its tasks. It lays out the plan once.
func (b *Builder) Graph(now time.Time) *Graph {
	b.refresh()
	if b.graph == nil {
		b.graph = graphOf(b.in.Epic, b.in.Graph, b.sections)
	}
	g := *b.graph
	g.Nodes, g.Sections = slices.Clone(g.Nodes), slices.Clone(g.Sections)
	for i := range g.Nodes {
		g.Nodes[i].State = b.rowAt(i, now).State
	}
	for k := range g.Sections {
		c := Counts{}
		for _, i := range g.Sections[k].Tasks {
			c[g.Nodes[i].State]++
		}
		g.Sections[k].Counts = c
	}
	return &g
}

// Timeline returns what went on when in the night, as far as the builder was given its events.
func (b *Builder) Timeline(now time.Time) *Timeline {
	l := &b.journal.line
	t := &Timeline{Jobs: len(l.jobs), Spans: make([]Span, len(l.spans)), To: now.UTC()}
	if run := b.run(); run.State != On {
		t.To = run.EndedAt
	}
	for k := range t.Spans {
		s := &t.Spans[k]
		*s = l.spans[k].span()
		if (s.To.IsZero() || s.To.After(t.To) && s.Task == "") && !b.in.Running {
			s.To = t.To
		}
	}
	slices.SortStableFunc(t.Spans, func(a, b Span) int { return a.From.Compare(b.From) })
	if len(t.Spans) > 0 {
		t.From = t.Spans[0].From
	}
	return t
}

// runsOfNight returns the ids of the runs of the night; without a log it is the newest that the ledger knows.
func (b *Builder) runsOfNight() []string {
	if len(b.journal.Session) == 0 {
		return []string{b.ledger.Folded.Run}
	}
	return each.Of(b.journal.Session, func(l Logged) string { return l.ID })
}
