package configs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"relay/epic"
	"relay/epic/pattern"
)

const pricesKey = "relay.prices"

// Price holds what a model costs, in USD for a million tokens. CachedInput is that of tokens the provider had in its cache.
type Price struct {
	Input       float64 `json:"input"`
	CachedInput float64 `json:"cached_input"`
	Output      float64 `json:"output"`
}

// Prices are those of models, by globs.
type Prices map[string]Price

// String returns the price as a file would have it, in one line.
func (p Prices) String() string {
	var all []string
	for _, glob := range slices.Sorted(maps.Keys(p)) {
		one := p[glob]
		all = append(all, fmt.Sprintf("%s: {input: %s, cached_input: %s, output: %s}", glob, digits(one.Input), digits(one.CachedInput), digits(one.Output)))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// modelGlobForm is a model's name, in which a star stands for any text. An expression that counted itself would be as long
// as what it counts, and every start of relay compiles it.
var modelGlobForm = pattern.New(`^\S+$`)

const longestGlob = 200 // characters

// pricesFromNode reads a map of prices. A complaint names the model and its place in the map.
func pricesFromNode(n *yaml.Node) (any, []complaint) {
	out := Prices{}
	if n.ShortTag() == "!!null" { // everything below is commented out
		return out, nil
	}
	const form = `{"gpt-5*": {input: 1.25, cached_input: 0.125, output: 10}}`
	if n.Kind != yaml.MappingNode {
		return nil, wrong("such as "+form, "wants prices by model, got %s", found(n))
	}
	if len(n.Content)/2 > maxKeys {
		return nil, wrong("", "has more than %d models", maxKeys)
	}
	var bad []complaint
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := epic.Follow(n.Content[i]), epic.Follow(n.Content[i+1])
		complain := func(message, hint string) {
			bad = append(bad, complaint{item: i/2 + 1, key: pricesKey + "." + shorten(key.Value), message: message, hint: hint})
		}
		_, twice := out[key.Value]
		switch {
		case key.ShortTag() != "!!str" || !modelGlobForm.MatchString(key.Value) || utf8.RuneCountInString(key.Value) > longestGlob:
			complain("is not a model's name, in which * stands for any text", "put it in quotes")
		case twice:
			complain("is there twice", "keep one of the two")
		default:
			price, why := priceFromNode(value)
			if why != "" {
				complain(why, "write USD for a million tokens, such as {input: 1.25, cached_input: 0.125, output: 10}")
			}
			out[key.Value] = price
		}
	}
	if bad != nil {
		return nil, bad
	}
	return out, nil
}

// priceFromNode reads the price of one model, or says what is wrong with it.
func priceFromNode(n *yaml.Node) (p Price, why string) {
	if n.Kind != yaml.MappingNode {
		return p, "wants input and output, got " + found(n)
	}
	var parts map[string]*float64
	if n.Decode(&parts) != nil {
		return p, "wants numbers, each once"
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		switch part := parts[name]; {
		case name != "input" && name != "cached_input" && name != "output":
			return p, fmt.Sprintf("has an unknown key %q", shorten(name))
		case part != nil && !(*part >= 0 && *part <= maxUSD): // also for NaN
			return p, fmt.Sprintf("%s is %v, out of range", name, *part)
		}
	}
	for _, name := range []string{"input", "output"} {
		if parts[name] == nil {
			return p, "has no " + name
		}
	}
	cached := cmp.Or(parts["cached_input"], parts["input"])
	return Price{Input: *parts["input"], CachedInput: *cached, Output: *parts["output"]}, ""
}

// keys returns the places of the keys of a map.
func (w walker) keys(n *yaml.Node) []position {
	var all []position
	if n = epic.Follow(n); n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			all = append(all, w.at(n.Content[i]))
		}
	}
	return all
}
