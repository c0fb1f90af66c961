package records

import (
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay/attempts"
	"relay/attempts/ledgersync"
	"relay/attempts/powerloss"
	"relay/epic/slowtest"
)

const (
	ledgerPath = ledgersync.Folder + "/" + ledgersync.LedgerFile
	foreign    = `{"id":"790226e1-ffff-4333-b969-dcb00083c973","by":"somebody"}` + "\n"
)

// outage is a machine that loses its power while the records of two nights are written.
type outage struct {
	*checkout
	events []attempts.Event
	rng    *rand.Rand
}

// keep writes the records of all events, some at a time, as the machine goes on. It returns the cursors that it has kept.
func (o *outage) keep(t *testing.T, on *powerloss.Checkout) (cursors []string) {
	t.Helper()
	options := o.options(nil)
	options.disk = on
	f := newFollower(&options)
	defer f.close()
	for from := 0; from < len(o.events); {
		to := from + 1 + o.rng.IntN(len(o.events)-from)
		f.take(o.events[from:to])
		if slices.ContainsFunc(f.kinds, func(k *kind) bool { return k.broken }) {
			return cursors // it is off: nothing is kept any more
		}
		must(t, f.save())
		text, err := os.ReadFile(filepath.Join(o.dir, CursorFile))
		must(t, err)
		cursors = append(cursors, string(text))
		from = to
	}
	return cursors
}

// find puts one of the cursors in place that may be found after the machine was off, for none of them was synced: any of those that were
// written, half of one, zeros, or none.
func (o *outage) find(t *testing.T, cursors []string) {
	t.Helper()
	name := filepath.Join(o.dir, CursorFile)
	must(t, os.RemoveAll(name))
	if len(cursors) == 0 || o.rng.IntN(6) == 0 {
		return
	}
	text := cursors[o.rng.IntN(len(cursors))]
	switch o.rng.IntN(6) {
	case 0:
		text = text[:o.rng.IntN(len(text))]
	case 1:
		text = strings.Repeat("\x00", len(text))
	}
	must(t, os.WriteFile(name, []byte(text), 0o600))
}

// Whenever the machine goes off, whatever of the last writes and names is lost or found in another order: once the records are brought up
// to date again, each entry and each artifact is there once, and what somebody else has written and synced.
func TestPowerLoss(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	c := newCheckout(t)
	first, second := nights()
	c.run(t, run1, nil, nil, first...)
	c.run(t, run2, nil, nil, second...)
	o := &outage{checkout: c, rng: rand.New(rand.NewPCG(1, 0))}
	must(t, attempts.Replay(c.dir, func(e attempts.Event) error { o.events = append(o.events, e); return nil }))
	zero := c.fromZero(t)
	must(t, os.Remove(filepath.Join(c.dir, CursorFile)))

	whole := powerloss.New()
	o.keep(t, whole)
	want, err := whole.Files()
	must(t, err)
	for name, text := range zero {
		if name != ledgersync.Folder+"/"+ledgersync.ConfigFile && want[filepath.ToSlash(name)] != text { // it names the folder
			t.Fatalf("%s:\n%s\nwant\n%s", name, want[name], text)
		}
	}
	if whole.Ops() < 40 {
		t.Errorf("%d operations only", whole.Ops())
	}
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		for stop := 1; stop < whole.Ops() && !t.Failed(); stop++ {
			o.rng = rand.New(rand.NewPCG(uint64(stop), seed))
			o.lose(t, want, stop)
			if t.Failed() {
				t.Logf("off at operation %d, seed %d", stop, seed)
			}
		}
	}
	if len(c.warnings) == 0 {
		t.Error("nobody was warned")
	}
}

// lose turns the machine off at an operation, and on again.
func (o *outage) lose(t *testing.T, want map[string]string, stop int) {
	t.Helper()
	must(t, os.RemoveAll(filepath.Join(o.dir, CursorFile)))
	off := powerloss.New()
	off.StopAt(stop)
	cursors := o.keep(t, off)
	found := off.Crash(o.rng)
	o.find(t, cursors)
	before, err := found.Files()
	must(t, err)
	others := before[ledgerPath] != "" && o.rng.IntN(2) == 0
	if others { // the first program to come is another one
		end := ""
		if !strings.HasSuffix(before[ledgerPath], "\n") {
			end = "\n"
		}
		must(t, found.Write(ledgerPath, end+foreign))
	}
	o.keep(t, found)
	got, err := found.Files()
	must(t, err)
	lines := strings.SplitAfter(got[ledgerPath], "\n")
	times := map[string]int{}
	for _, line := range lines {
		times[line]++
	}
	for line := range strings.Lines(want[ledgerPath]) {
		if times[line] != 1 {
			t.Errorf("%d times: %s", times[line], line)
		}
	}
	if others && times[foreign] != 1 {
		t.Errorf("the line of another program is there %d times", times[foreign])
	}
	for name, text := range want {
		if name != ledgerPath && got[name] != text {
			t.Errorf("%s:\n%s\nwant\n%s", name, got[name], text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok && path.Ext(name) == ".yaml" {
			t.Errorf("%s is there besides", name)
		}
	}
}
