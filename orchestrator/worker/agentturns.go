package worker

// agentTurns has the agent work in a checkout, turn after turn, and reads what it reports.
type agentTurns struct{ *checkout }

func turnsIn(c *checkout) agentTurns { return agentTurns{c} }
