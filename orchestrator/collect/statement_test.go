package collect

import (
	"reflect"
	"testing"

	"relay/attempts"
)

// Of two turns of an agent the last word counts, and nothing that it decided or found is lost.
func TestLater(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	before := attempts.Statement{
		Decisions: map[string]string{"a": "1", "b": "2"}, Questions: []string{"q"}, Discovered: []attempts.Discovery{{Title: "x"}, {Title: "y"}}, Confident: &no,
		Bugfix: &attempts.Bugfix{Fix: "f"},
	}
	now := attempts.Statement{Decisions: map[string]string{"b": "3"}, Discovered: []attempts.Discovery{{Title: "y", Why: "w"}}, Confident: &yes}
	want := attempts.Statement{
		Decisions: map[string]string{"a": "1", "b": "3"}, Questions: []string{"q"}, Discovered: []attempts.Discovery{{Title: "x"}, {Title: "y", Why: "w"}},
		Confident: &yes, Bugfix: &attempts.Bugfix{Fix: "f"},
	}
	if got := LaterStatement(before, now); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := LaterStatement(attempts.Statement{}, now); !reflect.DeepEqual(got, now) {
		t.Errorf("got %+v, want %+v", got, now)
	}
}
