package reanchor

// ResultQuestion is put to an agent that ended without a result, in the session that did the work.
type ResultQuestion struct {
	Why     string // it counts as none, in a line
	Changed bool   // it has changed something
}

// Brief writes what the agent is told. in is the attempt's own.
func (q ResultQuestion) Brief(in Input) []byte {
	var s sheet
	s.add(block{head: "# " + oneLine(in.Task.ID, 64) + ": " + oneLine(in.Task.Title, titleBytes) + "\n"})
	s.say("You ended without a result that relay can read (" + oneLine(q.Why, titleBytes) + "). If your work was cut off, finish it first.\n" +
		"Else change nothing and run nothing: give the result of what you have done, and nothing else.")
	if !q.Changed {
		s.say("No file has changed. If the task was done already before you began, the result is a `success` that says so.")
	}
	sayForm(&s, in.Agent, in.Task.Kind)
	return s.bytes()
}
