package landing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"strings"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/git/finish"
)

// pullRequest is a pull request that was opened, or would be: the answer of relay finish --pr --json.
type pullRequest struct {
	Remote   string   `json:"remote"`
	Base     string   `json:"base"` // branch there
	Head     string   `json:"head"`
	Title    string   `json:"title"`
	Body     string   `json:"body"`
	BodyFile string   `json:"body_file"` // where Body is kept
	Pushed   bool     `json:"pushed"`
	URL      string   `json:"url,omitempty"`
	Commands []string `json:"commands,omitempty"` // what is left to type
}

// hostTool is the command line program of a host for repositories.
type hostTool struct {
	name           string
	create, update func(r *pullRequest) []string
}

// hostTools are those relay can use. The first ones are tried first on a host whose name says nothing.
var hostTools = []hostTool{
	{"gh", func(r *pullRequest) []string {
		return []string{"pr", "create", "--base", r.Base, "--head", r.Head, "--title", r.Title, "--body-file", r.BodyFile}
	}, func(r *pullRequest) []string {
		return []string{"pr", "edit", r.Head, "--title", r.Title, "--body-file", r.BodyFile}
	}},
	{"glab", func(r *pullRequest) []string {
		return []string{
			"mr", "create", "--yes", "--target-branch", r.Base, "--source-branch", r.Head, "--title", r.Title, "--description", r.Body,
		}
	}, func(r *pullRequest) []string {
		return []string{"mr", "update", r.Head, "--title", r.Title, "--description", r.Body}
	}},
}

// opener pushes the branch of an epic and opens a pull request for it.
type opener struct {
	app     *cli.App
	dryRun  bool
	project *project.Project
	plan    *project.Plan
	step    *finish.Step
}

// open pushes the branch and opens a pull request for it, as far as that can be done from here: the request's Commands are what is left to
// type. With DryRun nothing is done. It fails when the branch cannot be pushed, or the host refuses.
func (o opener) open(ctx context.Context, body string) (*pullRequest, error) {
	remote, err := o.step.Remote(ctx)
	if err != nil {
		return nil, err
	}
	r := &pullRequest{
		Remote: remote.Name, Base: remote.Branch, Head: o.step.Name,
		Title: plaintext.Fit(o.plan.Epic.Title, 200), BodyFile: o.project.File("pull-request.md"), Body: o.app.Secrets.Text(body),
	}
	if project.SameFile(".", o.project.Root) {
		r.BodyFile = o.project.Rel(r.BodyFile)
	}
	tool := o.tool(ctx, remote)
	manual := "open a pull request for " + r.Head + " into " + r.Base + " where " + remote.Name + " is; its text is in " + r.BodyFile
	if tool != nil {
		manual = tool.typed(r)
	}
	if o.dryRun {
		r.Commands = []string{o.step.PushCommand(remote.Name), manual}
		return r, nil
	}
	if err := project.ReplaceFile(o.project.File("pull-request.md"), []byte(r.Body)); err != nil {
		return nil, err
	}
	if err := o.step.Push(ctx, remote.Name); err != nil {
		return nil, err
	}
	r.Pushed = true
	if tool == nil {
		r.Commands = []string{manual}
		return r, nil
	}
	return r, o.create(ctx, tool, r)
}

// create makes the pull request with the host's program, or updates the one that is there.
func (o opener) create(ctx context.Context, tool *hostTool, r *pullRequest) error {
	fmt.Fprintf(o.app.Err, "relay: asking %s to open a pull request\n", tool.name)
	output, err := o.run(ctx, tool.name, tool.create(r))
	if err == nil || errors.Is(err, exec.ErrWaitDelay) && lastLink(output) != "" { // something it has started goes on
		r.URL = lastLink(output)
		return nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		r.Commands = []string{tool.typed(r)}
		return nil
	}
	// gh and glab say so of a branch that has an open pull request.
	if refused := (*cli.HostError)(nil); errors.As(err, &refused) && strings.Contains(refused.Said, "already exists") {
		if output, err = o.run(ctx, tool.name, tool.update(r)); err == nil {
			r.URL = lastLink(output)
			return nil
		}
	}
	return &terminal.Hinted{Err: fmt.Errorf("%s is pushed, but %s opened no pull request: %w", r.Head, tool.name, err), Hint: tool.typed(r)}
}

// typed returns the command as a person types it.
func (t *hostTool) typed(r *pullRequest) string {
	typed := []string{t.name}
	for _, word := range t.create(r) {
		if word == r.Body {
			typed = append(typed, `"$(cat `+plaintext.ShellWord(r.BodyFile)+`)"`)
			continue
		}
		typed = append(typed, plaintext.ShellWord(word))
	}
	return strings.Join(typed, " ")
}

// tool finds the program for the host of a remote: by the host's name, or by who knows the host.
func (o opener) tool(ctx context.Context, remote finish.Remote) *hostTool {
	for _, address := range remote.URLs {
		host := hostOf(address)
		switch {
		case host == "":
			continue
		case strings.Contains(host, "github"):
			return &hostTools[0]
		case strings.Contains(host, "gitlab"):
			return &hostTools[1]
		}
		for i := range hostTools {
			if _, err := o.run(ctx, hostTools[i].name, []string{"auth", "status", "--hostname", host}); err == nil {
				return &hostTools[i]
			}
		}
	}
	return nil
}

// hostOf returns the host in a remote's address, "" for a folder.
func hostOf(address string) string {
	if strings.Contains(address, "://") {
		u, err := url.Parse(address)
		if err != nil {
			return ""
		}
		return strings.ToLower(u.Hostname())
	}
	// git@host:path, as for scp; a slash before the colon makes it a path.
	before, _, colon := strings.Cut(address, ":")
	if !colon || strings.ContainsAny(before, `/\`) || len(before) == 1 {
		return ""
	}
	return strings.ToLower(before[strings.LastIndexByte(before, '@')+1:])
}

// run starts a host's program at the root of the repository, and returns what it printed.
func (o opener) run(ctx context.Context, name string, args []string) (string, error) {
	return cli.RunHost(ctx, o.project.Root, o.app.Environ, name, args...)
}

// lastLink returns the last address in what a program printed.
func lastLink(msg string) string {
	link := ""
	for word := range strings.FieldsSeq(msg) {
		if strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "http://") {
			link = word
		}
	}
	return plaintext.Fit(link, 300)
}

// write prints what was pushed and opened, and what is left to type.
func (r *pullRequest) write(w io.Writer) {
	if r.Pushed {
		fmt.Fprintf(w, "pushed %s to %s\n", r.Head, r.Remote)
	}
	if r.URL != "" {
		fmt.Fprintf(w, "pull request for %s: %s\n", r.Base, r.URL)
	}
	for i, command := range r.Commands {
		if i == 0 {
			fmt.Fprint(w, "type:\n")
		}
		fmt.Fprintf(w, "  %s\n", command)
	}
	if !r.Pushed {
		fmt.Fprintf(w, "\n%s", r.Body)
	}
}
