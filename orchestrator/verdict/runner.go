package verdict

import (
	"cmp"

	"relay/attempts"
	"relay/runners"
)

// RunnerOutcome is how the ledger records the end of an agent's process.
type RunnerOutcome struct {
	Outcome  attempts.Outcome
	Category attempts.Category
	Words    string // used when the runner reports no detail
}

// runnerOutcomes is the table of runner outcomes.
var runnerOutcomes = map[runners.Outcome]RunnerOutcome{
	runners.Claimed:          {Outcome: attempts.Success},
	runners.Failed:           {attempts.Agent, attempts.CodeError, "the agent reported a failure"},
	runners.Asked:            {attempts.Asked, attempts.Question, "the agent asks a person"},
	runners.NoResult:         {attempts.Agent, attempts.NoResult, "the agent ended without a result"},
	runners.BadResult:        {attempts.Agent, attempts.NoResult, "the agent's result cannot be read"},
	runners.WallLimit:        {attempts.Timeout, attempts.TimedOut, "the agent ran out of time"},
	runners.SilenceLimit:     {attempts.Timeout, attempts.TimedOut, "the agent fell silent"},
	runners.Quota:            {attempts.Quota, attempts.RateLimited, "the provider's usage limit is reached"},
	runners.Refused:          {attempts.Agent, attempts.ModelRefused, "the model refuses this task"},
	runners.ContextExhausted: {attempts.Agent, attempts.ContextSpent, "the task does not fit the model's context"},
	runners.TurnsSpent:       {attempts.Agent, attempts.TurnsSpent, "the agent used up its turns"},
	runners.Killed:           {attempts.Agent, attempts.AgentKilled, "the agent was killed"},
	runners.RateLimited:      {attempts.Provider, attempts.RateLimited, "the provider limits the rate of requests"},
	runners.Overloaded:       {attempts.Provider, attempts.ProviderError, "the provider failed"},
	runners.Network:          {attempts.Provider, attempts.ProviderError, "the provider failed"},
	runners.Truncated:        {attempts.Provider, attempts.ProviderError, "the provider failed"},
	runners.Provider:         {attempts.Provider, attempts.ProviderError, "the provider failed"},
	runners.NoSession:        {attempts.Provider, attempts.ProviderError, "the agent's session is gone"},
	runners.Auth:             {attempts.Auth, attempts.AuthError, "the agent is not logged in, or may not be used"},
	runners.NoModel:          {attempts.Model, attempts.ModelUnknown, "the model is not available"},
	runners.PermissionDenied: {attempts.Environment, attempts.CLIError, "the agent's mode denies it a tool it needs"},
	runners.CannotStart:      {attempts.Start, attempts.CLIError, "the agent's program cannot be started"},
	runners.Stopped:          {attempts.Stopped, attempts.Interrupted, "the run was stopped"},
	runners.Lost:             {attempts.Environment, attempts.Interrupted, "the process that watched the agent died"},
}

// OutcomeOf looks up a runner's outcome. An outcome missing from the table is a fault of this machine.
func OutcomeOf(o runners.Outcome) RunnerOutcome {
	if row, ok := runnerOutcomes[o]; ok {
		return row
	}
	return RunnerOutcome{attempts.Environment, attempts.CLIError, "unknown outcome " + string(o)}
}

// EndedWhile returns why an agent ended. When relay or the system ended it, that includes what it did last.
func EndedWhile(r runners.Report, doing string) string {
	late := r.Outcome == runners.WallLimit || r.Outcome == runners.SilenceLimit || r.Outcome == runners.Killed
	if !late || doing == "" {
		return r.Detail
	}
	return cmp.Or(r.Detail, OutcomeOf(r.Outcome).Words) + "; the last it did: " + doing
}
