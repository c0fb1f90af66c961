// Package order has the messages between the relay that decides and a host that carries an attempt out. They name what lies in a git
// repository that both reach: no text of a plan, no brief and no secret is in them.
//
// A message has a version, MAJOR.MINOR. A relay refuses another MAJOR. It ignores fields that a newer MINOR has added, and refuses unknown
// fields otherwise.
package order

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"relay/attempts"
	"relay/cmd/relay/command"
	"relay/epic"
	"relay/orchestrator/engine"
)

// Version is that of the messages of this relay.
const Version = "1.0"

// Relay returns the version of this program.
func Relay() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

// ErrStopped is why a host stops an attempt: it got a signal, or the relay that decides asks for it, which then knows more.
var ErrStopped = errors.New("the host stopped it")

// MaxMessage bounds a message, in bytes.
const MaxMessage = 64 << 10

// ID names an attempt.
type ID struct {
	Run    string `json:"run"`
	Task   string `json:"task"`
	Number int    `json:"number"`
}

// IDOf returns the id of an attempt.
func IDOf(a engine.Attempt) ID { return ID{a.Run, a.Task.ID, a.Number} }

// String returns the id as one word that names no folder.
func (id ID) String() string { return fmt.Sprintf("%s.%s.%d", id.Run, id.Task, id.Number) }

// Order asks a host to carry out an attempt.
type Order struct {
	Version string `json:"version"`
	ID
	Base    string        `json:"base"`    // the commit that the attempt begins from
	Trusted string        `json:"trusted"` // the commit that the user had checked out, with the settings of the repository
	Commit  string        `json:"commit"`  // it has the contents, and leads to all commits that the attempt needs
	Hash    string        `json:"hash"`    // of the contents
	Wall    time.Duration `json:"wall"`    // of the agent; 0: none
}

// Result answers an order.
type Result struct {
	Version string `json:"version"`
	ID
	Order   string            `json:"order"`            // hash of the order's contents
	Host    string            `json:"host"`             // its name
	Failed  string            `json:"failed,omitempty"` // why the host could not carry the attempt out; the rest is empty then
	Commit  string            `json:"commit,omitempty"` // it has the contents of the result, and leads to Head and to Refs
	Outcome attempts.Outcome  `json:"outcome,omitempty"`
	Head    string            `json:"head,omitempty"` // of the work; "": none, or it stays on the host
	Refs    map[string]string `json:"refs,omitempty"` // what is kept of the attempt, by name
	Usage   attempts.Usage    `json:"usage,omitzero"`
	Stays   []string          `json:"stays,omitempty"` // in words, what stays on the host, and why
}

// Question asks a host something, or to do something, beside orders.
type Question struct {
	Version string `json:"version"`
	What    Kind   `json:"what"`
	Ref     string `json:"ref,omitempty"`    // About: what to fetch from the git repository
	Agents  bool   `json:"agents,omitempty"` // About: agents are asked, too
}

// Kind says which question.
type Kind string

// Questions.
const (
	About  Kind = "about"  // what would fail an attempt there
	Labels Kind = "labels" // those of its worker
	Drain  Kind = "drain"  // the worker is to finish what runs, and to take nothing new
)

// Answer is what a host says.
type Answer struct {
	Version string    `json:"version"`
	Relay   string    `json:"relay"` // version of its relay
	Git     string    `json:"git,omitempty"`
	Now     time.Time `json:"now"` // when it was asked, by its clock

	Points []command.Point `json:"points,omitempty"` // of relay check, there
	Labels []string        `json:"labels,omitempty"` // of its worker
}

// Contents are what a host needs of an order beside its message. They are files of the order's commit.
type Contents struct {
	Options engine.Options // of the run: what is not the host's own
	Attempt engine.Attempt
	User    User
	Hook    []byte // the pre-commit hook of the user; nil: none is to run

	Epic *epic.Epic `json:"-"` // a file of its own, which is the same in all orders
	Plan []byte     `json:"-"` // the same: epic.yml
}

// User is whose name commits have.
type User struct{ Name, Email string }

// ContentsOf returns what a host needs of an attempt.
func ContentsOf(o *engine.Options, a engine.Attempt) Contents {
	c := Contents{Options: *o, Attempt: a, Epic: o.Epic, Plan: o.Plan}
	var none engine.Options
	c.Options.Epic, c.Options.Plan = nil, nil
	takeOwn(&c.Options, &none)
	return c
}

// takeOwn makes what is a machine's own in the options that of another machine's.
func takeOwn(o, mine *engine.Options) {
	o.Engine, o.Root, o.Dir, o.Home, o.Files, o.BackupDir = mine.Engine, mine.Root, mine.Dir, mine.Home, mine.Files, mine.BackupDir
	o.Env, o.CommandEnv, o.Hook, o.Sign, o.Begin, o.Jobs = mine.Env, mine.CommandEnv, mine.Hook, mine.Sign, mine.Begin, mine.Jobs
	w := mine.Worktree
	w.Setup, w.SetupWall = o.Worktree.Setup, o.Worktree.SetupWall
	o.Worktree = w
}

// On returns the options of the order on a machine whose own ones are given.
func (c *Contents) On(mine *engine.Options) engine.Options {
	o := c.Options
	o.Epic, o.Plan = c.Epic, c.Plan
	takeOwn(&o, mine)
	o.Jobs = 1
	return o
}

// Names of the files of an order's commit.
const (
	orderFile = "order.json"
	epicFile  = "epic.json"
	planFile  = "epic.yml"
)

// Files returns the contents as files, by name.
func (c *Contents) Files() (map[string][]byte, error) {
	text, err := json.MarshalIndent(c, "", " ")
	plan, failed := json.Marshal(c.Epic)
	return map[string][]byte{orderFile: text, epicFile: plan, planFile: c.Plan}, errors.Join(err, failed)
}

// ContentsIn reads the contents from the files of an order's commit, and refuses others than the order names.
func ContentsIn(files map[string][]byte, o *Order) (c Contents, err error) {
	if got := HashOf(files); got != o.Hash {
		return c, fmt.Errorf("the order of %s is not what was asked for: its hash is %s, not %s", o.ID, got, o.Hash)
	}
	err = errors.Join(json.Unmarshal(files[orderFile], &c), json.Unmarshal(files[epicFile], &c.Epic))
	c.Plan = files[planFile]
	if err == nil && IDOf(c.Attempt) != o.ID {
		err = fmt.Errorf("the order of %s is one of %s", o.ID, IDOf(c.Attempt))
	}
	return c, err
}

// HashOf returns the hash of the contents of an order.
func HashOf(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range []string{orderFile, epicFile, planFile} {
		fmt.Fprintf(sum, "%d\n%s", len(files[name]), files[name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Encode returns a message as JSON. It fails for one that is too long.
func Encode(message any) ([]byte, error) {
	text, err := json.Marshal(message)
	if err == nil && len(text) > MaxMessage {
		err = fmt.Errorf("a message of %d bytes: at most %d are sent", len(text), MaxMessage)
	}
	return text, err
}

// Decode reads a message. Its error says what to do about a message of another version.
func Decode[M Order | Result | Question | Answer](text []byte) (m M, err error) {
	var head struct{ Version string }
	if len(text) > MaxMessage {
		return m, fmt.Errorf("a message of %d bytes: at most %d are read", len(text), MaxMessage)
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return m, fmt.Errorf("read a message: %w", err)
	}
	newer, err := compare(head.Version)
	if err != nil {
		return m, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if !newer {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(&m); err != nil {
		return m, fmt.Errorf("read a message of version %s: %w", head.Version, err)
	}
	return m, nil
}

// ErrVersion is the error of a message that this relay is too old or too new for.
var ErrVersion = errors.New("the relay that decides and the relay of the host do not understand each other")

// compare returns whether a version is newer than this relay's.
func compare(version string) (newer bool, err error) {
	var major, minor, ownMajor, ownMinor int
	_, _ = fmt.Sscanf(Version, "%d.%d", &ownMajor, &ownMinor)
	if n, err := fmt.Sscanf(version, "%d.%d", &major, &minor); n != 2 || err != nil || fmt.Sprintf("%d.%d", major, minor) != version {
		return false, fmt.Errorf("%w: a message of version %q", ErrVersion, version)
	}
	if major != ownMajor {
		return false, fmt.Errorf("%w: a message of version %s, and this one reads %s; install the same relay on both", ErrVersion, version, Version)
	}
	return minor > ownMinor, nil
}
