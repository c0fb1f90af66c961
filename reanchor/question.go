package reanchor

// TestsQuestion is put to an agent that changed tests which its task does not name, in the session that did the work.
type TestsQuestion struct {
	Changed []string // what the work does, a line each
}

// Brief writes what the agent is told. in is the attempt's own.
func (q TestsQuestion) Brief(in Input) []byte {
	var s sheet
	s.add(block{head: "# " + oneLine(in.Task.ID, 64) + ": " + oneLine(in.Task.Title, titleBytes) + "\n"})
	said := "relay has looked at the tests that your work changes:\n"
	for _, changed := range q.Changed {
		said += "- " + oneLine(changed, 4*titleBytes) + "\n"
	}
	s.say(said)
	s.say("Why? If the task needs that, change nothing, and say in the `summary` of your result why each change is right.\n" +
		"Else undo these changes, make the work pass the tests as they were, and give the result of the whole.")
	sayForm(&s, in.Agent, in.Task.Kind)
	return s.bytes()
}

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
