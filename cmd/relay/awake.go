package main

import "context"

// sleep says whether the machine will be kept awake. Where it will not that is no fault: most servers never sleep.
func (c *checkup) sleep(ctx context.Context) {
	if !c.place.config.Relay.InhibitSleep {
		return
	}
	name, err := c.app.canStayAwake(ctx)
	if err != nil {
		c.add(stateOK, "sleep", "nothing keeps the machine awake while relay works: "+err.Error(), "")
		return
	}
	c.add(stateOK, "sleep", "the machine stays awake while relay works ("+name+")", "")
}
