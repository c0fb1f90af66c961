package checkup

import "context"

// sleep reports whether the machine will be kept awake. Where it will not, that is no fault of a server, which never
// sleeps.
func (c *checkup) sleep(ctx context.Context) {
	if !c.project.Config.Relay.InhibitSleep {
		return
	}
	name, err := c.host.StayAwake(ctx)
	if err != nil {
		c.add(Warn, "sleep", "nothing keeps the machine awake while relay works: "+err.Error(), "keep it awake yourself, or set relay.inhibit_sleep: false if it never sleeps")
		return
	}
	c.add(OK, "sleep", "the machine stays awake while relay works ("+name+")", "")
}
