package configs

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Prices of all layers hold side by side, model by model, in the spelling of the files.
func TestPricesMerge(t *testing.T) {
	t.Parallel()
	user := filepath.Join(t.TempDir(), "agents.yml")
	if err := os.WriteFile(user, []byte("relay: {prices: {GPT-5.1: {input: 1, output: 2}, both: {input: 3, output: 3}}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := repository(t, "relay:\n  prices:\n    openai/*.5: {input: 4, cached_input: 0.5, output: 6}\n    both: {input: 7, output: 8}\n", "relay: {prices: {}}")
	c := load(t, Sources{UserFile: user, Dir: dir, Environ: []string{"RELAY_PRICES={gpt-5.1: {input: 9, output: 9.5}}"}})
	want := Prices{
		"GPT-5.1": {1, 1, 2}, "gpt-5.1": {9, 9, 9.5}, "both": {7, 7, 8}, "openai/*.5": {4, 0.5, 6},
	}
	if !reflect.DeepEqual(c.Relay.Prices, want) {
		t.Errorf("got %v, want %v", c.Relay.Prices, want)
	}
	v, _ := c.Lookup("relay.prices")
	const text = "{GPT-5.1: {input: 1, cached_input: 1, output: 2}, both: {input: 7, cached_input: 7, output: 8}, gpt-5.1: {input: 9, cached_input: 9, output: 9.5}, openai/*.5: {input: 4, cached_input: 0.5, output: 6}}"
	if v.String() != text || v.Origin != "RELAY_PRICES" {
		t.Errorf("got %s from %s", v, v.Origin)
	}
}

func TestPriceMistakes(t *testing.T) {
	t.Parallel()
	got := strings.Join(complaints(t, `
relay:
  budget_usd: -5
  epic_budget_tokens: 1e13
  prices:
    a: {input: 1}
    b: {output: 1}
    c: 1.25
    d: {input: 1, out: 2}
    e: {input: "1", output: 2}
    f: {input: 1, input: 1, output: 2}
    g: {input: -1, output: 2}
    "two words": {input: 1, output: 2}
    5: {input: 1, output: 2}
    h: {input: 1, output: 2}
    h: {input: 1, output: 2}
`), "\n")
	const how = " (write USD for a million tokens, such as {input: 1.25, cached_input: 0.125, output: 10})"
	want := `3:15: relay.budget_usd is -5, out of range (from 0 to 1000000)
4:23: relay.epic_budget_tokens is 1e+13, out of range (from 0 to 1000000000000)
6:5: relay.prices.a has no output` + how + `
7:5: relay.prices.b has no input` + how + `
8:5: relay.prices.c wants input and output, got a number` + how + `
9:5: relay.prices.d has an unknown key "out"` + how + `
10:5: relay.prices.e wants numbers, each once` + how + `
11:5: relay.prices.f wants numbers, each once` + how + `
12:5: relay.prices.g input is -1, out of range` + how + `
13:5: relay.prices.two words is not a model's name, in which * stands for any text (put it in quotes)
14:5: relay.prices.5 is not a model's name, in which * stands for any text (put it in quotes)
16:5: relay.prices.h is there twice (keep one of the two)`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	long := strings.Repeat("é", 200)
	for src, want := range map[string]string{
		"relay: {prices: {" + long + ": {input: 1, output: 2}}}": "",
		"relay: {prices: {" + long + "x: {input: 1, output: 2}}}": "1:18: relay.prices." + shorten(long) +
			" is not a model's name, in which * stands for any text (put it in quotes)",
		"relay: {prices: [a]}": "1:17: relay.prices wants prices by model, got a list (such as {\"gpt-5*\": {input: 1.25, cached_input: 0.125, output: 10}})",
	} {
		if got := strings.Join(complaints(t, src), "\n"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	many := "relay: {prices: {" + strings.Repeat("m: {input: 1, output: 1},", 101) + "}}"
	if got := strings.Join(complaints(t, many), "\n"); got != "1:17: relay.prices has more than 100 models" {
		t.Errorf("got %q", got)
	}
	_, err := Load(Sources{Environ: []string{"RELAY_PRICES={a: [}", "RELAY_BUDGET_USD=x"}})
	const inEnvironment = "RELAY_BUDGET_USD: relay.budget_usd wants a number, got \"x\"\nRELAY_PRICES: relay.prices wants prices by model, such as {gpt-5: {input: 1.25, output: 10}}"
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 2 || !strings.Contains(inEnvironment, lines[0]) || !strings.Contains(inEnvironment, lines[1]) {
		t.Errorf("got %v", err)
	}
}
