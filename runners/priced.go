package runners

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
)

// Price is what a model costs, in USD for a million tokens. Input is that of tokens that were not read from the
// provider's cache, CachedInput of those that were; CacheWrite of those that were written to it, 0: as Input.
type Price struct{ Input, CachedInput, CacheWrite, Output float64 }

// Prices are those of models, by globs in which * stands for any text. The best match is the glob
// with the most characters besides its stars, and of two such the one with fewer stars.
type Prices map[string]Price

// Of returns the price of a model, and whether there is one.
func (p Prices) Of(model string) (Price, bool) {
	best, found := "", false
	for glob := range p {
		if !globbed(glob, model) {
			continue
		}
		order := cmp.Or(cmp.Compare(literalLength(best), literalLength(glob)),
			cmp.Compare(len(glob), len(best)), cmp.Compare(glob, best))
		if !found || order < 0 {
			best, found = glob, true
		}
	}
	return p[best], found
}

// literalLength returns how many characters of a glob are not stars.
func literalLength(glob string) int { return len(glob) - strings.Count(glob, "*") }

// whole hides from path.Match what means something to it, but for the star.
var whole = strings.NewReplacer("/", "\x00", "[", "\x01", "?", "\x02", `\`, "\x03")

// globbed reports whether a glob matches all of a model's name. Only the star means something in it.
func globbed(glob, model string) bool {
	ok, err := path.Match(whole.Replace(glob), whole.Replace(model))
	return ok && err == nil
}

// cost returns what a usage comes to, in USD.
func (p Price) cost(u Usage) float64 {
	cached := min(max(u.CachedTokens, 0), max(u.InputTokens, 0))
	written := min(max(u.CacheWrites, 0), max(u.InputTokens, 0)-cached)
	fresh := max(u.InputTokens, 0) - cached - written
	return (float64(fresh)*p.Input + float64(cached)*p.CachedInput + float64(written)*cmp.Or(p.CacheWrite, p.Input) +
		float64(max(u.OutputTokens, 0))*p.Output) / 1e6
}

// Pricing records what r's models cost.
type Pricing struct {
	Prices  Prices // the user's own
	Model   string // the one that r takes for requests that name none, if that is known
	Unknown string // the one that a model which has no price is taken for; "": none
	// Kept returns the model of a session by what the CLI has kept of it in an environment; "": it is not known. nil: the CLI tells.
	Kept func(ctx context.Context, env []string, session string) string
}

// WithPrices gives a price to what r's CLI uses and does not price itself, while it runs and in its report: the user's, or
// else the public one, which makes it an estimate.
func WithPrices(r Runner, p Pricing) Runner { return &priced{Runner: r, Pricing: p} }

type priced struct {
	Runner
	Pricing
}

// Unwrap returns r itself, or the runner that r is a decorator of.
func Unwrap(r Runner) Runner {
	if p, ok := r.(*priced); ok {
		return Unwrap(p.Runner)
	}
	return r
}

// Run runs the agent.
func (r *priced) Run(ctx context.Context, req Request) (Report, error) {
	asked := cmp.Or(req.Model, r.Model)
	if watch := req.Observe; watch != nil {
		req.Observe = func(e Event) {
			if e.Kind == EventUsage {
				e.Usage = r.price(e.Usage, e.Model, asked)
			}
			watch(e)
		}
	}
	report, err := r.Runner.Run(ctx, req)
	if report.Model == "" && asked == "" && report.Session != "" && r.Kept != nil {
		report.Model = OneLine(r.Kept(context.WithoutCancel(ctx), req.Env, report.Session), MaxName)
	}
	report.Usage = r.price(report.Usage, report.Model, asked)
	report.Model = cmp.Or(report.Model, asked) // its CLI reports none
	return report, err
}

// price takes the price of the first of the models that has one. A CLI that says it cost nothing has no price list either, and
// what one says of a part is the least.
func (r *priced) price(u Usage, models ...string) Usage {
	if u.InputTokens+u.OutputTokens <= 0 || u.Priced && u.CostUSD > 0 {
		return u
	}
	hasPrice := slices.DeleteFunc(models, func(model string) bool { return model == "" })
	for _, model := range append(slices.Clone(hasPrice), "") { // a price for * is one for an unknown model
		if price, ok := r.Prices.Of(model); ok {
			u.CostUSD, u.Priced = max(u.CostUSD, price.cost(u)), true
			return u
		}
	}
	for _, model := range append(hasPrice, r.Unknown) {
		if price, ok := ListPrice(model); ok {
			u.CostUSD, u.Priced, u.ListPriced = max(u.CostUSD, price.cost(u)), true, true
			return u
		}
	}
	u.Priced = false
	return u
}
