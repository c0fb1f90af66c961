package main

import "context"

// sleep says whether the machine will be kept awake. Where it will not, that is no fault of a server, which never sleeps.
func (c *checkup) sleep(ctx context.Context) {
	if !c.place.Config.Relay.InhibitSleep {
		return
	}
	name, err := c.app.canStayAwake(ctx)
	if err != nil {
		c.add(stateWarn, "sleep", "nothing keeps the machine awake while relay works: "+err.Error(), "keep it awake yourself; where it never sleeps: relay.inhibit_sleep: false")
		return
	}
	c.add(stateOK, "sleep", "the machine stays awake while relay works ("+name+")", "")
}
