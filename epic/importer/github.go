package importer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"relay/epic"
	"relay/epic/importer/internal/markdown"
	"relay/epic/plaintext"
)

// Issue is an issue of GitHub with what it is a part of and waits for.
type Issue struct {
	Number int     `json:"number"`
	Title  string  `json:"title"`
	Body   string  `json:"body"`
	State  string  `json:"state"` // OPEN or CLOSED, in any case
	URL    string  `json:"url"`
	Labels []Label `json:"labels"`

	Subissues []int   `json:"-"`
	BlockedBy []Issue `json:"-"`
}

// Label is a word that an issue is marked with.
type Label struct {
	Name string `json:"name"`
}

// Closed reports whether it needs no work.
func (i *Issue) Closed() bool { return strings.EqualFold(i.State, "closed") }

// FromIssues makes an epic of issues. One with parts is their group, an open one without is a task: its boxes are its criteria, and it
// waits for what it is blocked by. Source is what the epic is called where the issues have no common parent. The error is epic.Problems.
func FromIssues(issues []Issue, source string, now time.Time) (*Plan, error) {
	source = plaintext.Line(source)
	r := tracker{d: &draft{made: Plan{Format: "github"}, file: source, title: source}, epics: map[string]*item{}, parent: map[string]string{}}
	slices.SortFunc(issues, func(a, b Issue) int { return cmp.Compare(a.Number, b.Number) })
	for i := range issues {
		r.githubIssue(&issues[i])
		for _, sub := range issues[i].Subissues {
			r.parent[issueID(sub)] = issueID(issues[i].Number)
		}
	}
	tops := slices.DeleteFunc(slices.Clone(issues), func(i Issue) bool { return r.parent[issueID(i.Number)] != "" })
	if len(tops) == 1 {
		r.d.title = plaintext.Line(tops[0].Title)
	}
	r.children()
	return r.d.plan(now)
}

func issueID(number int) string { return fmt.Sprintf("#%d", number) }

// githubIssue adds the item of an issue.
func (r *tracker) githubIssue(i *Issue) {
	it := &item{
		id: issueID(i.Number), as: fmt.Sprintf("GH%d", i.Number), file: plaintext.Line(i.URL), title: plaintext.Line(i.Title), priority: normal,
		done: i.Closed(),
	}
	for _, l := range i.Labels {
		it.label(l.Name)
	}
	entries, rest := markdown.Checklist(markdown.Lines([]byte(i.Body)))
	it.say(markdown.Join(rest))
	for k := range entries {
		if len(i.Subissues) == 0 {
			it.below(&entries[k])
		}
	}
	for _, on := range i.BlockedBy {
		switch own, _ := path.Split(i.URL); {
		case on.Closed():
		case on.URL != "" && !strings.HasPrefix(on.URL, own):
			why := it.id + " waits for " + markdown.Clip(on.URL, 200) + ", which is elsewhere"
			r.d.made.Told = append(r.d.made.Told, Told{File: i.URL, Why: why})
		default:
			it.after = append(it.after, reference{id: issueID(on.Number)})
		}
	}
	if len(i.Subissues) > 0 {
		r.epics[it.id] = it
		return
	}
	r.d.items = append(r.d.items, it)
}

// label takes what a word says of the kind and priority.
func (it *item) label(name string) {
	it.priority = markdown.PriorityIn(name, it.priority)
	if name = strings.ToLower(name); name == "bug" || strings.HasSuffix(name, "/bug") {
		it.kind = epic.KindBugfix
	}
}
