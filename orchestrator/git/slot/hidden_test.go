package slot

import (
	"strings"
	"testing"

	"relay/orchestrator/repotest"
)

func TestHiddenByADamagedIndex(t *testing.T) {
	t.Parallel()
	odd := repotest.New(t)
	odd.Write(".git/index", "garbage")
	if got, err := hidden(t.Context(), odd.Open()); err != nil || !strings.HasPrefix(got, "git cannot list its files: git ls-files: ") {
		t.Errorf("got %q, %v", got, err)
	}
}
