package command_test

import (
	"testing"

	"relay/runners/command"
)

func TestVersionsCompare(t *testing.T) {
	t.Parallel()
	tested := command.VersionRange{Oldest: "2.1.197", Newest: "2.1.329"}
	for version, want := range map[string]int{
		"2.1.197": 0, "2.1.329": 0, "2.1.200-beta.1": 0, "2.1.196": -1, "1.9.999": -1, "2.1.330": 1, "2.10.0": 1, "10.0.0": 1,
	} {
		if got := tested.Compare(version); got != want {
			t.Errorf("%s: got %d, want %d", version, got, want)
		}
	}
	if got, want := tested.String(), "2.1.197 to 2.1.329"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := (command.VersionRange{Oldest: "1.2.3", Newest: "1.2.3"}).String(), "1.2.3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
