package planning

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/each"
	"relay/epic/importer"
	"relay/epic/plaintext"
)

// mostIssues bounds the issues of one epic.
const mostIssues = 500

// GitHub reads issues with gh, the program of GitHub.
type GitHub struct {
	Root      string   // of the repository whose issues they are
	Environ   []string // with what gh needs to be logged in
	Milestone string   // whose issues are read
	Numbers   []int    // or those of these issues and their parts
}

// In returns the same for the repository of a project; nil when no issues are named.
func (g *GitHub) In(p *project.Project) *GitHub {
	if !g.Named() {
		return nil
	}
	return &GitHub{Root: p.Root, Environ: p.Session.Environ, Milestone: g.Milestone, Numbers: g.Numbers}
}

// Named reports whether issues are named.
func (g *GitHub) Named() bool { return g.Milestone != "" || len(g.Numbers) > 0 }

// issueFields are what gh is asked for.
const issueFields = "number,title,body,state,labels,url"

// Read makes an epic of the issues.
func (g *GitHub) Read(ctx context.Context, now time.Time) (*importer.Plan, error) {
	var issues []importer.Issue
	if g.Milestone != "" {
		err := g.ask(ctx, &issues,
			"issue", "list", "--milestone", g.Milestone, "--state", "all", "--limit", strconv.Itoa(mostIssues), "--json", issueFields)
		if err != nil {
			return nil, err
		}
		return g.read(ctx, issues, g.Milestone, now)
	}
	names := make([]string, 0, len(g.Numbers))
	for _, n := range g.Numbers {
		var i importer.Issue
		if err := g.ask(ctx, &i, "issue", "view", strconv.Itoa(n), "--json", issueFields); err != nil {
			return nil, err
		}
		issues, names = append(issues, i), append(names, fmt.Sprintf("#%d", n))
	}
	return g.read(ctx, issues, "Issues "+strings.Join(names, ", "), now)
}

// read adds what the issues are made of and wait for, and makes the epic.
func (g *GitHub) read(ctx context.Context, issues []importer.Issue, source string, now time.Time) (*importer.Plan, error) {
	known := map[int]bool{}
	for _, i := range issues {
		known[i.Number] = true
	}
	for k := 0; k < len(issues); k++ { // which grow
		i := &issues[k]
		if i.Closed() {
			continue
		}
		var parts, blockers []linked
		at := fmt.Sprintf("repos/{owner}/{repo}/issues/%d/", i.Number)
		if err := errors.Join(g.links(ctx, &parts, at+"sub_issues"), g.links(ctx, &blockers, at+"dependencies/blocked_by")); err != nil {
			return nil, err
		}
		i.BlockedBy = each.Of(blockers, linked.issue)
		i.Subissues = each.Of(parts, func(part linked) int { return part.Number })
		for _, part := range parts {
			if known[part.Number] {
				continue
			}
			if len(issues) >= mostIssues {
				return nil, fmt.Errorf("these are more than %d issues: name fewer", mostIssues)
			}
			known[part.Number] = true
			issues = append(issues, part.issue())
		}
	}
	if len(issues) == 0 {
		return nil, &terminal.Hinted{
			Err: fmt.Errorf("there is no issue in the milestone %s", plaintext.Fit(source, 80)), Code: terminal.Invalid,
			Hint: "gh api 'repos/{owner}/{repo}/milestones' names the milestones",
		}
	}
	return importer.FromIssues(issues, source, now)
}

// linked is an issue as GitHub's interface for programs has it.
type linked struct {
	importer.Issue

	HTML string `json:"html_url"`
}

func (l linked) issue() importer.Issue {
	l.URL = l.HTML
	return l.Issue
}

// links reads a list of issues. A host that does not know such lists has none.
func (g *GitHub) links(ctx context.Context, list *[]linked, address string) error {
	err := g.ask(ctx, list, "api", address+"?per_page=100") // as many as an issue can have
	if refused, ok := errors.AsType[*cli.HostError](err); ok && strings.Contains(refused.Said, "HTTP 404") {
		return nil
	}
	return err
}

// ask runs gh and reads the JSON that it prints.
func (g *GitHub) ask(ctx context.Context, answer any, args ...string) error {
	output, err := cli.RunHost(ctx, g.Root, g.Environ, "gh", args...)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return &terminal.Hinted{
			Err:  errors.New("gh, the program of GitHub, is not installed"),
			Hint: "install it and log in with gh auth login; or save an issue's text as a file: relay init FILE",
		}
	case err != nil:
		return fmt.Errorf("gh %s: %w", strings.Join(args[:2], " "), err)
	}
	if err := json.Unmarshal([]byte(output), answer); err != nil {
		return fmt.Errorf("gh %s: %w", strings.Join(args[:2], " "), err)
	}
	return nil
}
