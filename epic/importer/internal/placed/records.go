package placed

import (
	"slices"
	"strconv"
	"strings"

	"relay/epic/pattern"
)

// The names that JSON plans have for the same things.
var (
	TitleKeys = []string{"title", "name", "summary", "story", "task", "content", "description"}
	DoneKeys  = []string{"passes", "passed", "done", "completed", "complete"}
	StateKeys = []string{"status", "state"}
	AfterKeys = []string{"dependsOn", "dependencies", "depends_on", "blockedBy", "blocked_by", "after"}
	ProofKeys = []string{"acceptanceCriteria", "acceptance_criteria", "criteria", "testStrategy"}
	recordOwn = slices.Concat(DoneKeys, StateKeys, AfterKeys, ProofKeys) // that only tasks have

	recordWork  = pattern.New(`(?i)(?:task|story|stories|feature|epic|phase|milestone|sprint|issue|item)s?$`)
	recordAside = pattern.New(`(?i)criteri|test|check|verif|risk|question|comment|note|histor|log|file|scenario`)
)

// Records is a list of objects that have titles.
type Records struct {
	Name  string
	Whole *Node // that has the list
	List  []*Node
}

// Lists returns the lists of tasks, or of groups of tasks, in a value. Those in an object of such a list are its parts.
func (n *Node) Lists() []Records { return recordsIn(n, "", nil) }

func recordsIn(n *Node, name string, whole *Node) (found []Records) {
	if n == nil || n.Kind < Array || recordAside.MatchString(name) {
		return nil
	}
	if n.Kind == Array && isRecords(n, name) {
		return []Records{{name, whole, n.Values}}
	}
	for i, key := range n.Keys {
		found = append(found, recordsIn(n.Values[i], key, n)...)
	}
	return found
}

// isRecords reports whether a list is one of objects with titles, which is called tasks, or alike, or has what only tasks have. One whose
// objects name those of other lists only groups these.
func isRecords(list *Node, name string) bool {
	work := recordWork.MatchString(name)
	for _, n := range list.Values {
		work = work || n.IsWork()
		for i, key := range n.Keys {
			parts := n.Values[i].List()
			if len(parts) > 0 && parts[0].String() != "" && !strings.Contains(parts[0].String(), " ") && recordWork.MatchString(key) {
				return false
			}
		}
	}
	return work && slices.ContainsFunc(list.Values, func(n *Node) bool { return n.Has("id") || n.Has(TitleKeys...) })
}

// IsWork reports whether an object has what only tasks have.
func (n *Node) IsWork() bool {
	return n.Has(recordOwn...) || len(n.Lists()) > 0
}

// Unranked is the place of an object without one.
const Unranked = 1 << 30

// Place returns the place of an object by its priority.
func (n *Node) Place() int {
	if place, err := strconv.Atoi(n.Get("priority").String()); err == nil {
		return place
	}
	return Unranked
}
