package runners

import "strings"

// ListPricesAsOf is the month of which ListPrices are.
const ListPricesAsOf = "2026-11"

// ListPrices are what providers publicly asked for a million tokens in that month, as far as relay knows: claude's are
// those that Claude Code 2.1.329 counts with, the others from memory and older. They are not kept up to date, so a cost by
// them is called estimated. A name that only says whose model it is stands for models that are newer than this
// list, at the price of a large one.
//
//nolint:gochecknoglobals // a table
var ListPrices = Prices{
	"*claude*":            claudeAt(4, 0.2, 20),
	"*claude-opus*":       claudeAt(5, 0.5, 25),
	"*claude-opus-5-5*":   claudeAt(4, 0.2, 20),
	"*claude-opus-4-1*":   claudeAt(15, 1.5, 75),
	"*claude-sonnet*":     claudeAt(3, 0.3, 15),
	"*claude-sonnet-5*":   claudeAt(2, 0.2, 10),
	"*claude-sonnet-5-5*": claudeAt(2, 0.1, 10),
	"*claude-haiku*":      claudeAt(1, 0.1, 5),
	"*claude-haiku-5-5*":  claudeAt(0.1, 0.01, 0.5),
	"*claude-fable*":      claudeAt(8, 0.2, 40),
	"*claude-mythos*":     claudeAt(10, 1, 50),

	"*gpt-*":            {Input: 2.5, CachedInput: 0.25, Output: 15},
	"*gpt-5":            {Input: 1.25, CachedInput: 0.125, Output: 10},
	"*gpt-5-codex*":     {Input: 1.25, CachedInput: 0.125, Output: 10},
	"*gpt-5.1*":         {Input: 1.25, CachedInput: 0.125, Output: 10},
	"*gpt-5.2*":         {Input: 1.75, CachedInput: 0.175, Output: 14},
	"*gpt-5*-mini*":     {Input: 0.25, CachedInput: 0.025, Output: 2},
	"*gpt-5*-nano*":     {Input: 0.05, CachedInput: 0.005, Output: 0.4},
	"*gpt-5*-pro*":      {Input: 21, CachedInput: 21, Output: 168},
	"*gpt-4.1*":         {Input: 2, CachedInput: 0.5, Output: 8},
	"*codex-mini*":      {Input: 1.5, CachedInput: 0.375, Output: 6},
	"*gemini*":          {Input: 2, CachedInput: 0.2, Output: 12},
	"*gemini-2.5-pro*":  {Input: 1.25, CachedInput: 0.125, Output: 10},
	"*gemini*-flash*":   {Input: 0.5, CachedInput: 0.05, Output: 3},
	"*gemini*-flash-l*": {Input: 0.1, CachedInput: 0.01, Output: 0.4},
	"*deepseek*":        {Input: 0.28, CachedInput: 0.028, Output: 0.42},
	"*glm-*":            {Input: 0.6, CachedInput: 0.11, Output: 2.2},
	"*grok-*":           {Input: 3, CachedInput: 0.75, Output: 15},
	"*grok-code-*":      {Input: 0.2, CachedInput: 0.02, Output: 1.5},
	"*kimi-*":           {Input: 0.6, CachedInput: 0.15, Output: 2.5},
	"*qwen3-coder*":     {Input: 1, CachedInput: 0.1, Output: 5},
}

// claudeAt returns a price of Anthropic's: what is written to its cache costs a quarter more.
func claudeAt(input, cached, output float64) Price {
	return Price{Input: input, CachedInput: cached, CacheWrite: 1.25 * input, Output: output}
}

// ListPrice returns the public price of a model, and whether there is one. A name may say whose the model is
// (anthropic/claude-opus-4-5).
func ListPrice(model string) (Price, bool) { return ListPrices.Of(strings.ToLower(model)) }
