// Package recorded writes and shows records for people and agents at a shell: ledger entries, artifacts, handoffs and discussions.
//
// artifacts.go lists, shows, checks, makes and imports unified artifacts in a checkout.
//
// discuss.go does the five actions of the discussion ledger for people and agents at a shell.
//
// entries.go shows, checks and adds entries of the ledger of LedgerSync in a checkout.
//
// statement.go passes work from one interactive session to the next: it records where a session has stopped, and tells the next one.
package recorded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/attempts/artifact"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
)

type listed struct {
	File     string             `json:"file"`
	Artifact *artifact.Artifact `json:"artifact"`
}

// ListArtifacts prints the artifacts of a checkout, the oldest first. It warns of other files.
func ListArtifacts(a *cli.App, p *project.Project, asJSON bool) error {
	list, err := artifact.List(p.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return &terminal.Hinted{Err: fmt.Errorf("there is no %s", artifact.Folder), Hint: "relay artifact new makes it"}
	}
	if err != nil {
		return err
	}
	answer := []listed{}
	for _, l := range list {
		if l.Err != nil {
			fmt.Fprintf(a.Err, "relay: warning: %s is not an artifact: relay artifact validate says why\n", plaintext.Line(p.Rel(l.Path)))
			continue
		}
		answer = append(answer, listed{p.Rel(l.Path), l.Artifact})
		if !asJSON {
			f := l.Artifact
			fmt.Fprintf(a.Out, "%-20s  %-10s  %-13s  %s\n  %s\n", dateOf(f), orElse(string(f.Mode), "no mode"),
				orElse(string(f.Outcome), "no outcome"), plaintext.Line(f.Goal), plaintext.Line(p.Rel(l.Path)))
		}
	}
	if asJSON {
		return a.PrintJSON(answer)
	}
	if len(answer) == 0 {
		fmt.Fprintf(a.Err, "there is no artifact in %s\n", artifact.Folder)
	}
	return nil
}

// dateOf is the date of an artifact as relay prints times.
func dateOf(f *artifact.Artifact) string {
	if at, ok := f.At(); ok && strings.Contains(f.Date, ":") {
		return plaintext.Timestamp(at)
	}
	return orElse(f.Date, "no date")
}

func orElse(words, other string) string { return plaintext.Line(plaintext.FirstOf(words, other)) }

// ShowArtifact prints what one artifact says.
func ShowArtifact(a *cli.App, file string, asJSON bool) error {
	f, problems, err := artifact.ReadFile(a.Path(file))
	if errors.Is(err, fs.ErrNotExist) {
		return lackingArtifact(file)
	}
	if err != nil {
		return &terminal.Hinted{Err: err, Hint: "relay artifact validate says what is wrong with a file"}
	}
	if asJSON {
		return a.PrintJSON(f)
	}
	if err := show(a.Out, f); err != nil {
		return err
	}
	if slices.ContainsFunc(problems, func(p artifact.Problem) bool { return !p.Warning }) {
		a.Warn("other programs may not read " + file + ": relay artifact validate says why")
	}
	return nil
}

func lackingArtifact(file string) error {
	return &terminal.Hinted{Err: fmt.Errorf("there is no %s", file), Hint: "relay artifact list names those that are there, and relay artifact new makes one"}
}

// show prints the fields of an artifact as YAML.
func show(w io.Writer, f *artifact.Artifact) error {
	fields := f.Node()
	inBlocks(fields)
	return yaml.NewEncoder(w).Encode(fields)
}

func inBlocks(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		inBlocks(child)
	}
}
