package verdict

import "relay/attempts"

// RunnerSign is what the end of an attempt shows about the runner that was asked.
type RunnerSign int

// Signs of a runner.
const (
	RunnerSilent   RunnerSign = iota // nothing new
	RunnerAnswered                   // it works
	RunnerFailed                     // it or its provider failed
)

// Class holds the facts about one outcome that do not depend on the attempt.
type Class struct {
	Result attempts.Result // of the attempt in the ledger
	Runner RunnerSign
	// Refused means that the runner fails until a person has fixed something: with Login the login, with Model the model's name.
	Refused, Login, Model bool
	Limited               bool // the provider's usage limit was reached, which is never the fault of one task
	Stopped               bool // relay or a person interrupted the attempt
	Transient             bool // the outcome depended on when the attempt ran: another time it would have ended differently
	DiskExcuses           bool // if the disk was full, the machine is at fault and not the agent
	InAgentLog            bool // the agent's log shows best what happened

	resumes    bool // the next attempt continues from the kept work
	neverGates bool // any number of such ends leaves the task ungated
	costly     bool // waiting does not help, and every further attempt costs an agent's full work
	free       bool // not counted by the run's limit of uncharged attempts
	goesOn     bool // the task gets nearer to its end: too many such ends are too many attempts
	machine    bool // a failure of this machine
	severity   int  // of a reviewer's end: how little waiting helps
}

// classes has a row for every outcome.
var classes = map[attempts.Outcome]Class{
	attempts.Success: {Result: attempts.ResultSuccess, Runner: RunnerAnswered, free: true},
	attempts.Agent:   {Result: attempts.ResultFailure, Runner: RunnerAnswered, DiskExcuses: true, InAgentLog: true},
	attempts.Check:   {Result: attempts.ResultFailure, Runner: RunnerAnswered, DiskExcuses: true},
	attempts.Review:  {Result: attempts.ResultFailure, Runner: RunnerAnswered},
	attempts.Timeout: {Result: attempts.ResultFailure, Runner: RunnerAnswered, InAgentLog: true},
	attempts.Tamper:  {Result: attempts.ResultFailure, Runner: RunnerAnswered},
	attempts.Quota: {
		Result: attempts.ResultFailure, Runner: RunnerFailed, Limited: true, Transient: true, InAgentLog: true, resumes: true,
	},
	attempts.Provider: {Result: attempts.ResultFailure, Runner: RunnerFailed, Transient: true, InAgentLog: true, resumes: true},
	attempts.Auth: {
		Result: attempts.ResultFailure, Runner: RunnerFailed, Refused: true, Login: true, Transient: true, InAgentLog: true,
		resumes: true, neverGates: true, severity: 1,
	},
	attempts.Model: {
		Result: attempts.ResultFailure, Runner: RunnerFailed, Refused: true, Model: true, Transient: true, InAgentLog: true,
		resumes: true, neverGates: true, severity: 1,
	},
	attempts.Start: {
		Result: attempts.ResultFailure, Runner: RunnerFailed, Refused: true, Transient: true, InAgentLog: true,
		resumes: true, neverGates: true, severity: 1,
	},
	attempts.Conflict: {Result: attempts.ResultFailure, Runner: RunnerAnswered, costly: true},
	attempts.Unfinished: {
		Result: attempts.ResultFailure, Runner: RunnerAnswered, InAgentLog: true, resumes: true, free: true, goesOn: true,
	},
	attempts.Asked: {
		Result: attempts.ResultInterrupted, Runner: RunnerAnswered, resumes: true, neverGates: true, free: true, goesOn: true,
	},
	attempts.Budget: {Result: attempts.ResultFailure, Runner: RunnerAnswered, resumes: true, neverGates: true, free: true},
	attempts.Stopped: {
		Result: attempts.ResultInterrupted, Stopped: true, Transient: true, resumes: true, neverGates: true, free: true, severity: 2,
	},
	attempts.Environment: {Result: attempts.ResultFailure, costly: true, machine: true, severity: 1},
}

// ClassOf returns the facts about an outcome. An outcome missing from the table is a failure after which the runner works.
func ClassOf(o attempts.Outcome) Class {
	if c, ok := classes[o]; ok {
		return c
	}
	return Class{Result: attempts.ResultFailure, Runner: RunnerAnswered}
}
