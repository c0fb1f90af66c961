package precheck

import (
	"context"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
)

// Lacking is what checks name and will not find in task checkouts.
type Lacking struct {
	checks.Lacking
	Check string   // the first that needs it
	Whose []string // tasks that have such a check, and "the epic"
}

// Lacks returns what checks of the epic and of its open tasks name and will not find in task checkouts, each once, without
// running any. Without slots nothing is lacking: agents work where the user does.
func Lacks(ctx context.Context, o *engine.LocalOptions, l *attempts.Ledger) (lacks []Lacking, err error) {
	if o.Isolation != engine.IsolationWorktree {
		return nil, nil
	}
	home := o.Repo.Within(o.Env)
	base, err := home.Head(ctx)
	if err != nil || base == "" {
		return nil, err
	}
	r := checks.Runner{Options: o, Home: home}
	asked := make(map[string][]checks.Lacking)
	look := func(list []epic.Check, whose string) {
		for _, c := range list {
			if _, known := asked[c.Run]; !known {
				asked[c.Run] = r.Lacks(ctx, c.Run, base)
			}
			for _, what := range asked[c.Run] {
				k := slices.IndexFunc(lacks, func(known Lacking) bool { return known.What == what.What })
				if k < 0 {
					k, lacks = len(lacks), append(lacks, Lacking{Lacking: what, Check: c.Name})
				}
				if !slices.Contains(lacks[k].Whose, whose) {
					lacks[k].Whose = append(lacks[k].Whose, whose)
				}
			}
		}
	}
	look(o.Epic.Checks, "the epic")
	for i := range o.Epic.Tasks {
		t := &o.Epic.Tasks[i]
		if rec := l.Tasks[t.ID]; rec == nil || !rec.Completed {
			look(t.Checks, t.ID)
		}
	}
	return lacks, ctx.Err()
}
