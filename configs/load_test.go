package configs

import (
	"testing"
	"time"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, err := Load(Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Relay.Timeout, 15*time.Minute; got != want {
		t.Errorf("timeout %v, want %v", got, want)
	}
	for _, v := range c.Explain() {
		t.Log(v.Key, v, v.Origin)
	}
}
