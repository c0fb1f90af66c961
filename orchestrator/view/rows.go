package view

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/verdict"
)

// Bounds of what a row says, in columns, and of the lines that tell most.
const (
	wideWhy     = 300
	wideTelling = 200
	wideCheck   = 60
	mostTelling = 3
)

// row makes the row of a task.
func (b *Builder) row(i int) *Row {
	t := &b.in.Epic.Tasks[i]
	rec := b.ledger.Record(t.ID)
	limit := b.in.MaxAttempts
	if n := b.ledger.Settings.MaxAttemptsPerTask; n > 0 && b.in.Running {
		limit = n
	}
	r := &Row{
		ID: t.ID, Title: t.Title, Section: b.sections[i], Place: i, State: b.state(t.ID, rec), Attempt: rec.Charges(),
		Max: cmp.Or(max(t.MaxAttempts, 0), limit), Tries: len(rec.Attempts), Usage: rec.Used(), Looks: rec.Looks(),
		Advice: &b.none, person: t.Kind == epic.KindPerson,
	}
	for k := range rec.Attempts {
		r.addAttempt(&rec.Attempts[k])
	}
	if r.State == Done && !r.Already && (r.person || !r.Unproven) {
		return r
	}
	r.Advice = &Advice{}
	if f := b.frees[t.ID]; f != nil {
		r.Frees, r.FreesAll = f.first, f.all
	}
	b.explain(r, i, rec)
	r.offer(AddFlag(r.Commands(), b.in.Flag))
	return r
}

// lasts reports whether a row is true until something happens to its task: most are, and with them the night is made at once. The journal,
// the time and other tasks say the rest of those at work and those that wait.
func (r *Row) lasts(f *freed) bool {
	f = cmp.Or(f, &freed{})
	return r.State.Group() != Working && r.State.Group() != Waiting && r.FreesAll == f.all && slices.Equal(r.Frees, f.first)
}

// state returns the state of a task, at a time when no agent cools.
func (b *Builder) state(id string, rec *attempts.TaskRecord) State {
	switch b.ledger.StatusOf(b.in.Graph, id) {
	case attempts.Completed:
		if len(rec.Looks()) > 0 {
			return Look
		}
		return Done
	case attempts.Gated:
		switch rec.Gate.Reason {
		case attempts.AwaitsAnswer:
			return Asks
		case attempts.UserBlocked:
			return Held
		default:
			return Gated
		}
	case attempts.InProgress:
		if !b.in.Running {
			return Interrupted
		}
		return Running
	case attempts.BlockedOn:
		return Blocked
	default:
		if _, stopped := b.ledger.Held[id]; stopped {
			return Held
		}
		return Ready
	}
}

// addAttempt adds what an attempt of the task says, the oldest first.
func (r *Row) addAttempt(a *attempts.Attempt) {
	r.Agent, r.Model, r.Host = a.Runner, a.Model, a.Receipt.Host
	if a.Result == attempts.ResultInProgress {
		r.Since = a.StartedAt
		if r.State == Running || r.State == Interrupted {
			r.Attempt++
		}
		return
	}
	r.Seconds = math.Round(1000*(r.Seconds+Seconds(a.StartedAt, a.EndedAt))) / 1000
	if a.Receipt.DiffStat != "" || a.Landed != "" {
		r.Base, r.Head = a.Base, a.Head
		r.Files, r.Added, r.Deleted = statOf(a.Receipt.DiffStat)
		r.Files = max(r.Files, len(a.Receipt.FilesChanged))
	}
	if a.Result == attempts.ResultSuccess && (r.State == Done || r.State == Look) {
		r.Since, r.Already = a.EndedAt, a.Receipt.AlreadyDone
		r.NoProof = verdict.Unproved(a.Receipt)
		r.Unproven = r.NoProof != ""
		if r.Landed = a.Landed; a.Landed != "" {
			r.LandedAt = a.EndedAt
		}
	}
}

// Who returns the agent, and the host that it is on.
func (r *Row) Who() string { return strings.TrimSuffix(r.Agent+" on "+r.Host, " on ") }

// statOf reads the sums in the last line of git diff --stat: files, lines added and lines deleted.
func statOf(stat string) (files, added, deleted int) {
	last := stat[strings.LastIndexByte(stat, '\n')+1:]
	for part := range strings.SplitSeq(last, ",") {
		number, what, _ := strings.Cut(strings.TrimSpace(part), " ")
		n, err := strconv.Atoi(number)
		switch {
		case err != nil:
		case strings.HasPrefix(what, "file"):
			files = n
		case strings.HasPrefix(what, "insertion"):
			added = n
		case strings.HasPrefix(what, "deletion"):
			deleted = n
		}
	}
	return files, added, deleted
}

// explain says why the task is in its state, and what a person can do about it.
func (b *Builder) explain(r *Row, i int, rec *attempts.TaskRecord) {
	last := lastEnded(rec)
	switch r.State {
	case Look:
		r.Why, r.cause = fit(Seen(r.Looks)), Seen(r.Looks)
		if last != nil && r.Already {
			r.Telling = oneLine(last.Receipt.Summary)
		}
		r.offer(lookCommands(r.ID, r.Looks))
	case Gated, Held, Asks:
		b.explainGate(r, rec, last)
	case Blocked:
		waits := b.ledger.WaitsFor(b.in.Graph, r.ID)
		r.Why, r.WaitsFor, r.BlockedBy = "waits for "+plaintext.Some(waits, mostNamed), waits[:min(len(waits), mostNamed)], b.causes[i]
		if len(r.BlockedBy) > 0 {
			r.Why = "blocked by " + b.named(r.BlockedBy)
		}
	case Running:
		r.Phase, r.PhaseAt = b.journal.line.phaseOf(r.ID, r.Since)
		r.Why = lastTime(last)
	case Interrupted:
		r.Why = "interrupted; the next run continues it"
	case Ready:
		if r.Why = lastTime(last); verdict.Continued(*rec) != nil {
			r.Why = "continues with your answer"
		}
	case Done:
		if r.Why = r.NoProof; r.Already {
			r.Why = "it was done already"
		}
	default:
	}
}

// lastTime says how the last ended attempt of a task has failed; "": it has not.
func lastTime(last *attempts.Attempt) string {
	if last == nil || last.Result == attempts.ResultSuccess {
		return ""
	}
	return fit("last time: " + last.Receipt.ErrorSummary)
}

// lastEnded returns the last attempt that has ended; nil: none has.
func lastEnded(rec *attempts.TaskRecord) *attempts.Attempt {
	for k := len(rec.Attempts) - 1; k >= 0; k-- {
		if rec.Attempts[k].Result != attempts.ResultInProgress {
			return &rec.Attempts[k]
		}
	}
	return nil
}

// named lists tasks that need a person with the state of the last: "T18 (gated)".
func (b *Builder) named(ids []string) string {
	last := ids[len(ids)-1]
	word := map[State]string{Asks: " (asks you)", Held: " (held)", Gated: " (gated)"}[b.state(last, b.ledger.Record(last))]
	return strings.Join(ids, ", ") + word
}

// explainGate says why the task is gated, what tells most about it, and what to type.
func (b *Builder) explainGate(r *Row, rec *attempts.TaskRecord, last *attempts.Attempt) {
	g := rec.Gate
	if g == nil { // a person stopped its attempt
		r.Since, r.Why = b.ledger.Held[r.ID], "stopped by you"
		r.offer([]Command{{"relay retry " + r.ID, "try again in this run"}})
		return
	}
	r.Since, r.Detail, r.Why = g.At, g.Detail, fit(g.Text())
	if g.Reason == attempts.UserBlocked && g.Detail != "" && !r.person {
		r.cause = g.Detail
	}
	if len(rec.Attempts) > rec.CountFrom && last != nil && r.State == Gated {
		r.Telling, r.cause = tellingOf(&last.Receipt), attempts.Cause(last.Receipt)
		r.why(g, &last.Receipt)
	}
	if r.State == Asks {
		for _, q := range rec.OpenQuestions() {
			r.Telling = append(r.Telling, oneLine(q)...)
		}
		if len(r.Telling) == 0 {
			r.Telling = oneLine(g.Detail)
		}
		r.cause = strings.Join(r.Telling, "\n")
		if r.Why = "it asks you"; rec.Attempts != nil {
			r.Why += "; the answer continues its session"
		}
	}
	r.offer(remedy(r, g, last))
}

// why says why a task with telling lines is gated: these say the rest.
func (r *Row) why(g *attempts.Gate, receipt *attempts.Receipt) {
	if len(r.Telling) == 0 {
		return
	}
	failed := plaintext.Count(max(r.Attempt, 1), "attempt") + " failed"
	check := ""
	if k := slices.IndexFunc(receipt.Checks, attempts.CheckRun.FailedOnWork); k >= 0 {
		check = ": " + plaintext.Fit(receipt.Checks[k].Name, wideCheck)
	}
	switch g.Reason {
	case attempts.MaxAttempts:
		r.Why = failed + check
	case attempts.RepeatedFailure:
		r.Why = failed + " with the same error" + check
	case attempts.QualityGateBlocked:
		r.Why = "blocked in review"
		if receipt.Review != nil {
			by := each.Of(receipt.Review.Opinions, func(o attempts.Opinion) string { return o.Reviewer })
			r.Why = strings.TrimSuffix("blocked in review by "+plaintext.Listed(by), " by ")
		}
	default: // its gate says more
	}
}

// tellingOf returns the lines that tell most about a failure: of reviewers, of the checks that failed, or what the attempt ended with.
func tellingOf(r *attempts.Receipt) (lines []string) {
	if r.Review != nil {
		for _, o := range r.Review.Opinions {
			for _, f := range o.Verdict.Findings {
				lines = append(lines, oneLine(f.InShort())...)
			}
		}
	}
	for _, c := range r.Checks {
		if c.FailedOnWork() && r.ErrorCategory != attempts.MissingDependency { // whose summary says what to do
			telling := plaintext.TellingLines(c.Tail)
			if most := plaintext.MostTelling(telling); most != "" {
				lines = append(lines, oneLine(most)...)
			}
		}
	}
	if len(lines) == 0 || r.ErrorCategory == attempts.NoChange { // whatever a check says of nothing
		lines = oneLine(r.ErrorSummary)
	}
	lines = slices.Compact(lines)
	return lines[:min(len(lines), mostTelling)]
}

// oneLine returns a text as a list of one line, cut; none for no text.
func oneLine(text string) []string {
	if text = plaintext.Fit(plaintext.Line(strings.TrimSpace(text)), wideTelling); text == "" {
		return nil
	}
	return []string{text}
}

func fit(text string) string { return plaintext.Fit(text, wideWhy) }

func because(why string) string { return plaintext.Because(fit(why)) }

// offer sets what to type: the first command, and those that may come then.
func (r *Row) offer(list []Command) {
	if len(list) > 0 {
		r.First, r.Choices = &list[0], list[1:]
	}
}

// Commands are those that a row offers, the first one first.
func (r *Row) Commands() []Command {
	if r.First == nil {
		return nil
	}
	return append([]Command{*r.First}, r.Choices...)
}

// Cause says in short why the task needs a person: the line that tells most, or what relay says.
func (r *Row) Cause() string {
	if len(r.Telling) > 0 {
		return r.Telling[0]
	}
	return r.Why
}

// Waiters says which tasks wait for the one of the row; "": none does.
func (a *Advice) Waiters() string {
	switch n := a.FreesAll; {
	case n == 0:
		return ""
	case n > 3 || n > len(a.Frees):
		return plaintext.Count(n, "task") + " wait for it"
	default:
		return strings.Join(a.Frees, ", ") + plaintext.Verb(n, " waits", " wait") + " for it"
	}
}

// Alike names the tasks of a row that stands for several: "T3, T4 and 9 more: same question"; "": it stands for one.
func (r *Row) Alike() string {
	if len(r.Also) == 0 {
		return ""
	}
	same := map[State]string{Asks: "question", Held: "reason", Look: "look"}[r.State]
	return plaintext.Some(append([]string{r.ID}, r.Also...), 2) + ": same " + cmp.Or(same, "error")
}
