package attempts

// Usage holds what an attempt used, its reviews included. CachedTokens are those of InputTokens that were read from the
// provider's cache; who wrote this may not distinguish them. CostUSD is 0, and not written, when the
// cost is unknown or nothing; Free tells these apart. relay once wrote 0 for what it did not know.
type Usage struct {
	InputTokens  int64   `json:"input_tokens" yaml:"input_tokens"`
	CachedTokens int64   `json:"cached_tokens,omitempty" yaml:"cached_tokens,omitempty"`
	OutputTokens int64   `json:"output_tokens" yaml:"output_tokens"`
	CostUSD      float64 `json:"cost_usd,omitempty" yaml:"cost_usd,omitempty"`
	Estimated    bool    `json:"estimated,omitempty" yaml:"estimated,omitempty"`     // some tokens were not reported
	ListPriced   bool    `json:"list_priced,omitempty" yaml:"list_priced,omitempty"` // the cost is by public prices, as relay knows them
	Free         bool    `json:"free,omitempty" yaml:"free,omitempty"`               // it is known to cost nothing
}

// Add puts another usage on top.
func (u *Usage) Add(more Usage) {
	u.Free = (u.Free || more.Free) && (u.Free || u.Unused()) && (more.Free || more.Unused())
	u.InputTokens += more.InputTokens
	u.CachedTokens += more.CachedTokens
	u.OutputTokens += more.OutputTokens
	u.CostUSD += more.CostUSD
	u.Estimated, u.ListPriced = u.Estimated || more.Estimated, u.ListPriced || more.ListPriced
}

// EstimatedCost reports whether a part of the cost was not reported.
func (u Usage) EstimatedCost() bool { return u.CostUSD > 0 && (u.Estimated || u.ListPriced) }

// KnownCost reports whether at least a part of the cost is known.
func (u Usage) KnownCost() bool { return u.CostUSD > 0 || u.Free }

// Unused reports whether nothing that was used is known.
func (u Usage) Unused() bool { return u.CostUSD == 0 && u.InputTokens+u.OutputTokens == 0 }

// Uncached returns the tokens that caps count: what the model read and wrote without what it read from its provider's cache.
func (u Usage) Uncached() int64 { return u.InputTokens - u.CachedTokens + u.OutputTokens }

func sum(list []Attempt) Usage {
	var all Usage
	for i := range list {
		if u := list[i].Usage; u != nil {
			all.Add(*u)
		}
	}
	return all
}
