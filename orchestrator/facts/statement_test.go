package facts

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"relay/attempts"
	"relay/runners"
)

// All that an agent may say fits a receipt.
func TestStatementIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 800)
	r := &runners.Result{
		Status: runners.StatusSuccess, Summary: "sum", Statement: attempts.Statement{
			Decisions: map[string]string{}, Bugfix: &attempts.Bugfix{Symptom: long, RootCause: long, Fix: long, RegressionRisk: long},
			Implementation: &attempts.Implementation{}, Inspection: &attempts.Inspection{Assessment: long},
		},
	}
	for i := range 200 {
		r.Decisions[fmt.Sprint(i)] = long
		r.Questions, r.Discovered = append(r.Questions, long), append(r.Discovered, attempts.Discovery{Title: long, Why: long})
		r.Implementation.DesignDecisions = append(r.Implementation.DesignDecisions, long)
		r.Inspection.Findings = append(r.Inspection.Findings, attempts.InspectionFinding{Severity: "low", Issue: long, Recommendation: long})
	}
	s := Statement(r)
	said, err := json.Marshal(s)
	if err != nil || len(said) > maxStatement || len(s.Decisions) == 0 || len(r.Decisions) != 200 {
		t.Errorf("%d bytes with %d decisions, %v", len(said), len(s.Decisions), err)
	}
}

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
	if got := Later(before, now); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := Later(attempts.Statement{}, now); !reflect.DeepEqual(got, now) {
		t.Errorf("got %+v, want %+v", got, now)
	}
}
