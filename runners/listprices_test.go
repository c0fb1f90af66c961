package runners_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"relay/runners"
)

var rewrite = flag.Bool("update", false, "rewrite docs/money.md")

// docs/money.md has the list of public prices.
func TestListPricesDocs(t *testing.T) {
	t.Parallel()
	const path, head = "../docs/money.md", "| model | read | from the cache | written |\n|---|---|---|---|\n"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(data), head)
	want := text + head
	for _, model := range slices.Sorted(maps.Keys(runners.ListPrices)) {
		p := runners.ListPrices[model]
		want += fmt.Sprintf("| `%s` | %v | %v | %v |\n", model, p.Input, p.CachedInput, p.Output)
	}
	if !strings.Contains(want, runners.ListPricesAsOf) {
		t.Errorf("%s does not say that the prices are of %s", path, runners.ListPricesAsOf)
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(data) != want {
		t.Errorf("%s has another list: go test ./runners -run ListPricesDocs -update", path)
	}
}
