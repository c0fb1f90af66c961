package relayfiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/orchestrator/engine"
	"relay/reanchor/git"
	"relay/runners"
	"relay/runners/process"
)

// Files names the files of one attempt.
type Files struct {
	Folder, Brief, Result, Transcript, Stderr, End, Patch, Checks, Review string
}

// Of names the files of an attempt, below the folder of its epic.
func Of(dir string, a engine.Attempt) Files {
	p := In(filepath.Join(dir, "runs", a.Run, a.Task.ID, fmt.Sprint(a.Number)))
	in := func(name string) string { return filepath.Join(p.Folder, name) }
	p.Patch, p.Checks, p.Review = in("changes.patch"), in("checks"), in("review")
	return p
}

// In names the files of one turn of an agent, in a folder.
func In(folder string) Files {
	in := func(name string) string { return filepath.Join(folder, name) }
	return Files{
		Folder: folder, Brief: in("brief.md"), Result: in("result.json"), Transcript: in("transcript.jsonl"), Stderr: in("stderr.log"),
		End: in(EndFile),
	}
}

// Give writes the brief of a turn, and makes room for what its agent will write. dir is the folder of its epic.
func (p Files) Give(dir string, brief []byte) error {
	if err := MakeRoom(dir, p.Output()...); err != nil {
		return err
	}
	return os.WriteFile(p.Brief, brief, 0o600)
}

// Request returns a request to a runner with the files of the turn, and with the limits of a run but for the time.
func (p Files) Request(l *engine.Limits, wall time.Duration) runners.Request {
	return runners.Request{
		Prompt: p.Brief, Result: p.Result, Transcript: p.Transcript, Stderr: p.Stderr, End: p.End,
		Limits: runners.Limits{
			Wall: wall, Silence: l.Silence, FirstAnswer: l.FirstAnswer, Linger: l.Linger, StopGrace: l.StopGrace, TranscriptCap: l.OutputCap,
			DiskFloor: l.DiskFloor,
		},
	}
}

// Used reports whether an agent was given this turn. The agent may have removed any of its files.
func (p Files) Used() bool {
	return slices.ContainsFunc([]string{p.Brief, p.Transcript, p.Stderr, p.End}, git.Exists)
}

// Output lists the files that a turn of the agent writes, with its brief.
func (p Files) Output() []string {
	return []string{p.Brief, p.Result, p.Transcript, p.Stderr, p.End}
}

// Ready reports whether the slot was left to an agent, or to a review: it is a whole checkout, with work in it perhaps.
func (p Files) Ready() bool {
	return git.Exists(filepath.Join(p.Folder, UntrackedName)) || p.Used() || p.Round(1).Used()
}

// Begun is when the agent was, to the second; zero when no agent was.
func (p Files) Begun() time.Time {
	info, err := os.Stat(p.Brief)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Round names the files of a further turn of the agent.
func (p Files) Round(n int) Files { return p.turn(TurnFolder(n)) }

// Question names the files of the turn in which an agent is asked for its result.
func (p Files) Question() Files { return p.turn("result") }

// Why names the files of the turn in which an agent is asked why it changed tests.
func (p Files) Why() Files { return p.turn("why") }

func (p Files) turn(folder string) Files {
	q := In(filepath.Join(p.Folder, folder))
	p.Brief, p.Result, p.Transcript, p.Stderr, p.End = q.Brief, q.Result, q.Transcript, q.Stderr, q.End
	return p
}

// LastSeen is the last moment at which the attempt's processes can have been alive.
func (p Files) LastSeen() time.Time {
	var last time.Time
	paths := slices.Concat(p.Output(), p.Question().Output(), p.Why().Output())
	for n := 1; p.Round(n).Used(); n++ {
		paths = append(paths, p.Round(n).Output()...)
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// Kept is the commit in which an attempt's work is kept; "" : none that is known.
func (p Files) Kept() string { return line(filepath.Join(p.Folder, KeptName)) }

// Slot returns the name of the slot that an attempt of a killed run had.
func (p Files) Slot() (name string, ok bool) {
	name = line(filepath.Join(p.Folder, SlotFile))
	return name, name != "" && filepath.Base(name) == name
}

// line returns what a file of one line says; "" : nothing that can be read.
func line(path string) string {
	content, err := runners.ReadResultFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// Files of an attempt that relay writes for a run that has to bring it to its end.
const (
	SlotFile      = "worktree"           // the name of its slot
	MakingFile    = "worktree-in-making" // that of the slot that is being made for it in place of a lost one
	UntrackedName = "untracked"          // which files the set-up had made before its agent began
	askedFile     = "asked.json"         // of a reviewer: see Asked
	KeptName      = "kept"               // the commit in which its work is kept: a ref of its name may be another ledger's
)

// Note writes one line into a file of the attempt, below the folder of its epic.
func (p Files) Note(dir, file, line string) error {
	path := filepath.Join(p.Folder, file)
	if err := MakeRoom(dir, path); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(line+"\n"), 0o600)
}

// Ended stands in for an agent that ran under a relay that was killed. Cut means that it was cut short, also by a signal: the
// next run ends what is left of this one, and may be faster at it than the guardian, who then knows nothing of it.
func (p Files) Ended() (sup process.Supervisor, cut bool) {
	exit, err := process.ReadExit(p.End)
	if err != nil {
		exit = process.Exit{Lost: true}
	}
	return process.Ended(exit), exit.Stopped || exit.Lost || exit.Signal != ""
}

// Asked says who answered a question: no event tells it of a reviewer without an opinion.
type Asked struct {
	CLI   string `json:"cli"`             // its type
	Dir   string `json:"dir"`             // the checkout that it read
	Model string `json:"model,omitempty"` // that it has reported; "": it has not
}

// NoteAsked writes into the folder of the question who was asked.
func (p Files) NoteAsked(dir string, a Asked) error {
	text, err := json.Marshal(a)
	return errors.Join(err, p.Note(dir, askedFile, string(text)))
}

// ReadAsked returns who was asked in a folder, as far as that can be read.
func ReadAsked(folder string) (a Asked) {
	_ = json.Unmarshal([]byte(line(filepath.Join(folder, askedFile))), &a)
	return a
}
