package verdict

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

// seeds is how many evidences each property is tried with.
const seeds = 3000

// course adds the parts that Decide asks for, from full, until Decide rules. It returns the ruling and the parts in the order asked.
// ended is false if Decide asks for a part that is there, or more often than there are parts.
func course(e, full *Evidence) (r Ruling, asked []Part, ended bool) {
	for range len(parts) + 1 {
		r, need := Decide(e)
		if need == Nothing {
			return r, asked, true
		}
		asked = append(asked, need)
		if e.parts().lack(need) == Nothing {
			break
		}
		give(e, need, full)
	}
	return r, asked, false
}

// begun returns evidence without any part.
func begun(full *Evidence) *Evidence { return &Evidence{Task: full.Task, Damage: full.Damage} }

// Decide ends in a ruling. It never asks for a part that is there, or for one before a part that it has asked for. It is deterministic,
// does not change the evidence, and rules the same on evidence that was encoded and decoded.
func TestDecideIsTotal(t *testing.T) {
	t.Parallel()
	ruled := map[Cause]bool{}
	for seed := range uint64(seeds) {
		m := makerOf(seed)
		full := m.evidence()
		e, some := begun(full), begun(full)
		for _, p := range parts[:m.IntN(len(parts)+1)] {
			give(e, p, full)
		}
		if m.in(3) { // code of the agent has run since
			e.Guard = nil
		}
		r, asked, ended := course(e, full)
		if !ended || !slices.IsSortedFunc(asked, func(a, b Part) int { return slices.Index(parts, a) - slices.Index(parts, b) }) {
			t.Fatalf("seed %d: asked for %q, ended is %t", seed, asked, ended)
		}
		ruled[r.Cause] = true
		if again, need := Decide(e); again != r || need != Nothing {
			t.Fatalf("seed %d: got %+v, then %+v", seed, r, again)
		}
		if seed%10 == 0 {
			unchanged(t, seed, full)
			if again, _ := Decide(copied(t, e)); again != r {
				t.Fatalf("seed %d: got %+v, and read again %+v", seed, r, again)
			}
		}
		if Stands(e) != r.Lands() {
			t.Fatalf("seed %d: Stands is %t with %+v", seed, Stands(e), r)
		}
		for _, p := range parts { // whatever is there
			if m.in(2) {
				give(some, p, full)
			}
		}
		Stands(some)
		if _, asked, ended := course(some, full); !ended {
			t.Fatalf("seed %d: asked for %q, and no end", seed, asked)
		}
	}
	covered(t, rows, ruled) // else the generator misses something
	if !ruled["somebody committed"] {
		t.Error("the waiver was not reached")
	}
}

// unchanged compares evidence with what its seed makes.
func unchanged(t *testing.T, seed uint64, e *Evidence) {
	t.Helper()
	if !reflect.DeepEqual(e, makerOf(seed).evidence()) {
		t.Fatalf("seed %d: Decide has changed the evidence", seed)
	}
}

// copied writes evidence as the event log does, and reads it.
func copied(t *testing.T, e *Evidence) *Evidence {
	t.Helper()
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	read := &Evidence{}
	if err := json.Unmarshal(data, read); err != nil {
		t.Fatal(err)
	}
	return read
}

// harshness orders rulings by their cost to the task. Land costs nothing. An uncharged end costs another attempt, which the task gets. A
// charged one also uses up one of its few attempts. A gate costs most, as no attempt follows until a person acts. A hold counts as
// uncharged, and a ruling after which the session goes on counts as the end that it would be.
func harshness(r Ruling) int {
	switch {
	case r.Lands():
		return 0
	case r.Gate != "":
		return 3
	case r.Charged():
		return 2
	}
	return 1
}

// If more is green, Decide does not judge harsher. Parts that Decide did not ask for count as well, as in Stands: an uncharged ruling
// says nothing about what would have been looked at next.
func TestDecideIsMonotone(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		full := makerOf(seed).evidence()
		e := begun(full)
		r, _, _ := course(e, full)
		for _, changed := range greener(e) {
			better, _, _ := course(changed, proved())
			if harshness(better) <= harshness(r) {
				continue
			}
			// Exempt: protected files that the agent left changed. The row counts them only after a check or the hook gave an
			// answer, because checks may leave such files changed themselves, and only their answer shows that.
			if better.Cause == "protected files left" && harshness(r) == 1 {
				continue
			}
			t.Fatalf("seed %d: %+v, and with more green %+v", seed, r, better)
		}
	}
}

// greener returns copies of e, each with one red thing turned green.
func greener(e *Evidence) (list []*Evidence) {
	with := func(change func(better *Evidence)) {
		better := *e
		change(&better)
		list = append(list, &better)
	}
	if c := e.Checks; c != nil {
		with(func(better *Evidence) { better.Checks = &Runs{Runs: c.Runs} })
		if n := len(c.Runs); n > 0 {
			passed := Run{Name: c.Runs[n-1].Name, OfEpic: c.Runs[n-1].OfEpic, Before: c.Runs[n-1].Before, Is: Passed}
			with(func(better *Evidence) {
				better.Checks = &Runs{append(slices.Clone(c.Runs[:n-1]), passed), c.Fewer, c.Flaky, c.Mishap}
			})
		}
	}
	if h := e.Hook; h != nil {
		with(func(better *Evidence) { better.Hook = &Hook{} })
	}
	if o := e.Old; o != nil {
		with(func(better *Evidence) { better.Old = &Old{} })
	}
	if p := e.Panel; p != nil {
		with(func(better *Evidence) { better.Panel = &Panel{} })
		with(func(better *Evidence) {
			better.Panel = &Panel{p.Missing, false, p.Wants || p.Blocked, p.First, p.MayMend, false, p.Seconded}
		})
		with(func(better *Evidence) {
			better.Panel = &Panel{p.Missing[min(1, len(p.Missing)):], p.Blocked, p.Wants, p.First, p.MayMend, p.Approved, p.Seconded}
		})
	}
	return list
}

// DecideLanding has the same properties; less conflict is greener, too. It charges nothing, and lands only what is green.
func TestDecideLanding(t *testing.T) {
	t.Parallel()
	ruled := map[Cause]bool{}
	for seed := range uint64(seeds) {
		e := makerOf(seed).landing()
		r := DecideLanding(e)
		ruled[r.Cause] = true
		if again := DecideLanding(e); again != r || seed%10 == 0 && DecideLanding(copied(t, e)) != r {
			t.Fatalf("seed %d: got %+v, then %+v", seed, r, again)
		}
		if r.Charged() || r.Lands() != (r.Person == "") || r.Lands() && (!green(e.Checks) || len(e.Landing.Conflict) > 0) {
			t.Fatalf("seed %d: got %+v", seed, r)
		}
		merges := *e
		merges.Landing = &Landing{With: e.Landing.With, Since: e.Landing.Since}
		for _, changed := range append(greener(e), &merges) {
			if better := DecideLanding(changed); harshness(better) > harshness(r) {
				t.Fatalf("seed %d: %+v, and with more green %+v", seed, r, better)
			}
		}
	}
	covered(t, landingRows, ruled)
}

// Every charge has a reason, in the words of the row that ruled.
func TestChargesHaveReasons(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		full := makerOf(seed).evidence()
		e := begun(full)
		r, _, _ := course(e, full)
		if !r.Charged() {
			continue
		}
		at := slices.IndexFunc(rows, func(row row) bool { return row.Cause == r.Cause })
		if r.Person == "" || r.Category == "" || at < 0 || rows[at].Seen == "" || rows[at].words(e) != r.Person {
			t.Fatalf("seed %d: %+v", seed, r)
		}
	}
}

// Work lands only if the agent claims it, every check is green or excused, every command gave an answer, all reviewers agree, and Guard
// and the protected files are clean.
func TestLandsOnlyProved(t *testing.T) {
	t.Parallel()
	landed := 0
	for seed := range uint64(seeds) {
		full := makerOf(seed).evidence()
		e := begun(full)
		r, _, _ := course(e, full)
		if !r.Lands() {
			continue
		}
		landed++
		well := e.parts().lack(parts...) == Nothing && green(e.Checks) && e.Guard.Why == "" && e.Damage == "" && e.End.Claims() && e.Hook.How == "" &&
			e.Ready.Mishap == (Mishap{}) && e.Base.Mishap == (Mishap{}) && e.Hook.Mishap == (Mishap{}) && e.Old.Mishap == (Mishap{}) &&
			(len(e.Panel.Missing) == 0 || e.Panel.Seconded) && !e.Panel.Blocked && !e.Panel.Wants &&
			len(e.Work.Protected) == 0 && len(e.Work.LeftProtected) == 0
		if !well {
			t.Fatalf("seed %d: it lands", seed)
		}
	}
	if landed < seeds/100 {
		t.Errorf("only %d of %d land", landed, seeds)
	}
}

// green reports whether every check was seen, and passed or is excused.
func green(c *Runs) bool {
	return c.Mishap == (Mishap{}) && !slices.ContainsFunc(c.Runs, func(r Run) bool {
		return r.Changed != "" || r.Is != Passed && (!r.OfEpic || r.Before != Red)
	})
}

// Decide rules on any evidence that can be decoded, also if relay never writes such evidence.
func FuzzDecide(f *testing.F) {
	for seed := range uint64(20) {
		data, err := json.Marshal(makerOf(seed).evidence())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"work": {"empty": true}}`))
	f.Add([]byte(`{"checks": {"runs": [{"is": "red"}]}, "panel": {"missing": [{}]}, "landing": {"conflict": [""]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func() *Evidence {
			e := &Evidence{}
			if json.Unmarshal(data, e) != nil {
				t.Skip()
			}
			return e
		}
		full := read()
		for _, start := range []func() *Evidence{read, func() *Evidence { return begun(read()) }} {
			e, same := start(), start()
			Stands(e)
			r, asked, ended := course(e, full)
			again, askedAgain, _ := course(same, full)
			if !ended || r != again || !slices.Equal(asked, askedAgain) {
				t.Errorf("got %+v after %q, then %+v after %q; ended is %t", r, asked, again, askedAgain, ended)
			}
		}
		full.Landing = &Landing{}
		if landing := read().Landing; landing != nil {
			full.Landing = landing
		}
		if r := DecideLanding(full); r != DecideLanding(full) || r.Cause == "" {
			t.Errorf("got %+v", r)
		}
	})
}
