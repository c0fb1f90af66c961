package attempts

// Usage holds what an attempt used, its reviews included. CachedTokens are those of InputTokens that were read from the
// provider's cache; who wrote this may not distinguish them. CostUSD is 0 when the cost is unknown.
type Usage struct {
	InputTokens  int64   `json:"input_tokens" yaml:"input_tokens"`
	CachedTokens int64   `json:"cached_tokens,omitempty" yaml:"cached_tokens,omitempty"`
	OutputTokens int64   `json:"output_tokens" yaml:"output_tokens"`
	CostUSD      float64 `json:"cost_usd" yaml:"cost_usd"`
	Estimated    bool    `json:"estimated,omitempty" yaml:"estimated,omitempty"`     // some tokens were not reported
	ListPriced   bool    `json:"list_priced,omitempty" yaml:"list_priced,omitempty"` // the cost is by public prices, as relay knows them
}

// Add puts another usage on top.
func (u *Usage) Add(more Usage) {
	u.InputTokens += more.InputTokens
	u.CachedTokens += more.CachedTokens
	u.OutputTokens += more.OutputTokens
	u.CostUSD += more.CostUSD
	u.Estimated, u.ListPriced = u.Estimated || more.Estimated, u.ListPriced || more.ListPriced
}

// EstimatedCost reports whether a part of the cost was not reported.
func (u Usage) EstimatedCost() bool { return u.CostUSD > 0 && (u.Estimated || u.ListPriced) }

// Unpriced reports whether tokens were used whose price is unknown.
func (u Usage) Unpriced() bool { return u.CostUSD == 0 && u.InputTokens+u.OutputTokens > 0 }

// Uncached returns the tokens that caps count: what the model read and wrote without what it read from its provider's
// cache.
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
