package reanchor

import (
	"bytes"
	"slices"
	"strings"

	"relay/attempts"
)

// Instructions are the files of a repository that every brief tells its agent to follow where they exist.
func Instructions() []string { return []string{"AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md"} }

// Told writes a brief as [Brief] does, and says what it holds. Its size, and the files that are named in it, are for [NamedIn] to
// say of the brief as the agent gets it.
func Told(in Input) ([]byte, attempts.Briefed) {
	s := sheetOf(in)
	return s.bytes(), attempts.Briefed{
		Handoff: in.Handoff.ID, Entries: s.quotedEntries(in), Documents: slices.Concat(in.Required, in.Documents),
		Unclear: in.Record.OpenQuestions(), Continues: in.TakenUp > 0, Cut: s.cuts(),
	}
}

// NamedIn returns the files of the repository that a brief names: of those that its task is about, and of those that earlier
// attempts and the tasks it builds on have changed.
func NamedIn(brief []byte, in Input) []string {
	candidates := slices.Clone(in.Task.Files)
	for _, d := range in.Dependencies {
		candidates = append(candidates, d.Receipt.FilesChanged...)
	}
	for _, a := range in.Record.Attempts {
		candidates = append(candidates, a.Receipt.FilesChanged...)
	}
	var named []string
	seen := make(map[string]bool, len(candidates))
	for _, path := range candidates {
		if len(named) == 2*manyItems {
			break
		}
		if !seen[path] && path != "" && bytes.Contains(brief, []byte(pathText(path))) {
			named = append(named, path)
		}
		seen[path] = true
	}
	return named
}

// parts names what is cut of a brief that is too long.
var parts = map[rank]string{
	cutThreads: "questions", cutEntries: "work of others", cutLearnings: "learnings", cutHandoff: "handoff",
	cutOlderAttempts: "older attempts", cutDependencies: "dependencies", cutGit: "git state", cutProgress: "other tasks", cutEpic: "epic",
	cutDiff:   "diff of the last attempt",
	cutOutput: "output of the last attempt", cutReport: "report of the last attempt", cutPaths: "paths", cutTask: "description",
	cutProof: "criteria and commands",
}

// cuts names the parts of which something was left out.
func (s *sheet) cuts() []string {
	var names []string
	for r := cutThreads; r <= cutProof; r++ {
		if slices.ContainsFunc(s.blocks, func(b block) bool { return b.rank == r && (b.gone || b.lost > 0) }) {
			names = append(names, parts[r])
		}
	}
	return names
}

// quotedEntries counts the entries of LedgerSync that are in the sheet, with the handoff.
func (s *sheet) quotedEntries(in Input) (n int) {
	if in.Handoff.ID != "" && slices.ContainsFunc(s.blocks, func(b block) bool { return b.rank == cutHandoff && !b.gone && b.fence != "" }) {
		n++
	}
	for i := range s.blocks {
		if b := &s.blocks[i]; b.rank == cutEntries && !b.gone {
			n += strings.Count("\n\n"+b.body, "\n\nby ")
		}
	}
	return n
}
