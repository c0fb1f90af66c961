package attempts

// Outcome is how an attempt ended. Package orchestrator/verdict decides what follows from it.
type Outcome string

// Outcomes of an attempt.
const (
	Success     Outcome = "success"
	Agent       Outcome = "agent"    // reported failure, no result, no change, bad result
	Check       Outcome = "check"    // an acceptance command failed
	Review      Outcome = "review"   // the reviewer wants changes, or blocks
	Timeout     Outcome = "timeout"  // wall or silence limit
	Conflict    Outcome = "conflict" // could not land
	Quota       Outcome = "quota"    // usage limit
	Provider    Outcome = "provider" // overloaded, 5xx, network
	Auth        Outcome = "auth"
	Model       Outcome = "model"      // the provider does not have it
	Start       Outcome = "start"      // the agent's program ended before it had said anything, or is not there
	Unfinished  Outcome = "unfinished" // context or turns used up, and the work went further than that of the attempt before
	Asked       Outcome = "asked"      // it waits for a person's answer
	Budget      Outcome = "budget"
	Stopped     Outcome = "stopped" // Ctrl-C, TERM, deadline, crash of relay
	Tamper      Outcome = "tamper"
	Environment Outcome = "environment" // relay's own machine: the agent cannot start, no verdict, a check proves nothing
)

// Charged reports whether an attempt that ended so counts against the task, unless more is known of it. It is here for ledgers of other
// programs, which record no charge; relay's own charges are decided in orchestrator/verdict.
func (o Outcome) Charged() bool {
	switch o {
	case Agent, Check, Review, Timeout, Tamper:
		return true
	default:
		return false
	}
}

// Result is an attempt's one word in the ledger.
type Result string

// Results; the first two are the seed's, the others relay's own.
const (
	ResultSuccess     Result = "success"
	ResultFailure     Result = "failure"
	ResultInProgress  Result = "in_progress"
	ResultInterrupted Result = "interrupted"
)
