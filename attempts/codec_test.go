package attempts

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"relay/attempts/internal/durable"
	"relay/attempts/internal/durable/simdisk"
)

// The fast reader and encoding/json read the same.
func TestDecodeIsJSON(t *testing.T) {
	t.Parallel()
	e, _ := plan(t, 6)
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		ev := anyEvent(rng, e)
		anyTexts(rng, &ev)
		ev.Seq, ev.At, ev.Run = seed, clock()(), run1
		if ev.Ended != nil {
			ev.Ended.Evidence = anyEvidence(t, rng)
		}
		line, _, err := encode(nil, ev)
		must(t, err)
		sameDecoding(t, line[:len(line)-1])
	}
}

// A line that is nested too deep is refused, and exhausts no stack.
func TestDecodeDeep(t *testing.T) {
	t.Parallel()
	for _, n := range []int{11_000, 4 << 20} {
		var e Event
		if err := decode([]byte(`{"other":`+strings.Repeat("[", n)+strings.Repeat("]", n)+`}`), &e); err == nil {
			t.Errorf("a value %d lists deep was read", n)
		}
	}
}

func anyEvidence(t *testing.T, rng *rand.Rand) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(map[string]any{"damage": anyText(rng), "list": []any{anyText(rng), map[string]int{"}": 1}}, "none": nil})
	must(t, err)
	return text
}

func sameDecoding(t *testing.T, text []byte) {
	t.Helper()
	var want, got Event
	werr := json.Unmarshal(text, &want)
	canonical(&want, true)
	gerr := decode(text, &got)
	if (werr == nil) != (gerr == nil) || werr == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%q:\ngot  %+v, %v\nwant %+v, %v", text, got, gerr, want, werr)
	}
}

func FuzzDecode(f *testing.F) {
	e := failed("T1", 1, "é\u2028\x00\"")
	e.Seq, e.At, e.Run = 7, clock()(), run1
	e.Ended.Usage = &Usage{CostUSD: 1e-9, InputTokens: -5, CachedTokens: 7}
	e.Ended.Gate = &Gate{Reason: MaxAttempts}
	line, _, err := encode(nil, e)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(line))
	lands := landing("T1", 1)
	lands.Landing.Receipt.Checks[0].Attribution = BrokenBefore
	if line, _, err = encode(nil, lands); err != nil {
		f.Fatal(err)
	}
	f.Add(string(line))
	for _, s := range []string{
		`{"landing":{"landed":"a"},"ended":{"landed":"b"}}`, `{"landing":{},"landing":{"head":"x"}}`, `{"landing":null}`, `{"started":{"sealed":"\u0000"}}`, "{}", "", "null", `{"seq":01}`, `{"SEQ":1}`, `{"seq":1,"seq":2}`, `{"task":"\ud83d\ude00"}`, `{"ended":{"usage":null}}`,
		`{"ended":{"receipt":{"checks":[{}],"checks":[]}}}`, `{"attempt":1.0}`, `{"at":"2026-01-11T22:00:00+01:00"}`, `{"started":{"runner":"a"}}x`, `{"seq":1,}`, `{"ended":{"receipt":{"files_changed":[]}}}`,
		`{"ended":{"evidence":{"a":[1,{"b":"\"}"}]},"cause":"x"}}`, `{"ended":{"evidence":null}}`, `{"ended":{"evidence":[}]}}`, `{"ended":{"evidence":{"a":1]}}}`, `{"ended":{"evidence":{},"evidence":{"b":2}}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { sameDecoding(t, []byte(s)) })
}

func TestEncodeMakesDo(t *testing.T) {
	t.Parallel()
	e := failed("T1", 1, strings.Repeat("x", 1<<20))
	e.Ended.Usage = &Usage{CostUSD: math.NaN()}
	e.Ended.Receipt.Checks = []CheckRun{{Name: "\xff", Seconds: math.Inf(1), Tail: strings.Repeat("y", 1<<20)}}
	e.Ended.Receipt.ErrorCategory = `"]; rm -rf /`
	for range 1000 {
		e.Ended.Receipt.FilesChanged = append(e.Ended.Receipt.FilesChanged, strings.Repeat("z", 1000))
	}
	line, back, err := encode(nil, e)
	must(t, err)
	r := back.Ended.Receipt
	if len(line) > bigEvent || len(r.FilesChanged) != bigList+1 || r.Checks[0].Seconds != 0 || back.Ended.Usage.CostUSD != 0 {
		t.Errorf("got %d bytes, %d files, %+v", len(line), len(r.FilesChanged), back.Ended.Usage)
	}
	if r.ErrorCategory != CodeError || !strings.HasPrefix(r.ErrorSummary, `"]; rm -rf /: xxx`) {
		t.Errorf("got %q, %.40q", r.ErrorCategory, r.ErrorSummary)
	}
	lands := Event{Type: TypeLanding, Task: "T1", Attempt: 1, Landing: e.Ended}
	if line, also, err := encode(nil, lands); err != nil ||
		len(line) > bigEvent || !reflect.DeepEqual(also.Landing, back.Ended) {
		t.Errorf("a landing says something else than the end: %v, %d bytes", err, len(line))
	}
	if !math.IsNaN(e.Ended.Usage.CostUSD) || e.Ended.Receipt.ErrorCategory == CodeError {
		t.Error("the caller's event was changed")
	}
}

// FuzzReplay reads any lines as a log, those that are JSON with a good checksum: it never fails in a way that is not an
// error, what it makes of them it makes again, and what it cannot read can be repaired.
func FuzzReplay(f *testing.F) {
	object := func(e Event) string {
		text, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		return string(text) + "\n"
	}
	one, two := started("T1", 1), succeeded("T1", 1)
	one.Seq, two.Seq = 1, 2
	lands, where := landing("T1", 1), Event{Seq: 2, Type: TypeRunStarted, RunStarted: &RunStarted{Integration: "relay/x", Branch: "main", Base: "abc"}}
	lands.Seq = 3
	f.Add(object(one) + object(where) + object(lands))
	f.Add(object(Event{Seq: 1, Type: TypeAccepted, Accepted: &Accepted{Base: &Base{Part: 1, Parts: 1, Integration: Integration{From: "main"}}, Tasks: map[string]TaskRecord{"T1": {Attempts: []Attempt{{ID: 1, Landing: &Ended{}}}}}}}))
	written := Event{Seq: 3, Type: TypeWritten, Written: &Written{SHA256: "00"}}
	f.Add(object(one) + object(two) + object(written))
	f.Add(object(one) + "junk\n" + object(two))
	f.Add(object(two) + object(one))
	f.Add(object(one) + object(one) + "junk")
	f.Add(object(Event{Seq: 1, Type: TypeAccepted, Accepted: &Accepted{Base: &Base{Part: 1, Parts: 2}}}))
	f.Add(object(Event{Seq: 4, Type: TypeAccepted, Accepted: &Accepted{Base: &Base{Part: 1, Parts: 1}, Tasks: map[string]TaskRecord{"T1": {Completed: true, CountFrom: -1}}}}))
	f.Add(`{"seq":1,"type":"later","task":"T1"}` + "\n" + `{"seq":18446744073709551615}` + "\n")
	e, g := plan(f, 3)
	f.Fuzz(func(t *testing.T, text string) {
		var log []byte
		for line := range strings.Lines(text) {
			if object, whole := strings.CutSuffix(line, "\n"); whole && strings.HasPrefix(object, "{") && len(object) > 1 {
				log = durable.Frame(log, []byte(object))
			} else {
				log = append(log, line...)
			}
		}
		disk := simdisk.New()
		must(t, durable.MkdirAll(disk, "runs/"+run1))
		must(t, durable.Replace(disk, EventsPath(run1), nil, durable.Content{Write: func(w io.Writer) error {
			_, err := w.Write(log)
			return err
		}}))
		replayed(t, disk, Options{Epic: e, Graph: g, Run: run2, Now: clock()})
	})
}

func replayed(t *testing.T, disk durable.FS, o Options) {
	t.Helper()
	before, err := load(disk, o, false)
	if err != nil {
		return // it says that it belongs to another epic or version
	}
	if len(before.log.faults) > 0 {
		r, err := repair(Options{Epic: o.Epic, Graph: o.Graph, Now: o.Now}, disk)
		if err != nil || len(r.Faults) == 0 {
			t.Errorf("repair: %+v, %v", r, err)
		}
	}
	s, err := open(o, disk, refuseEdit)
	must(t, err)
	must(t, s.Close())
	after, err := load(disk, o, false)
	if err != nil || len(after.log.faults) > 0 || after.edit != nil {
		t.Fatalf("got %v, %v, %v", err, after.log.faults, after.edit)
	}
	if got, want := after.log.fold.ledger.Integration, before.log.fold.ledger.Integration; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for id, rec := range before.log.fold.ledger.Tasks {
		if got := after.log.fold.record(id); !sameJSON(rec, got) {
			t.Errorf("task %s: got %+v, want %+v", id, got, rec)
		}
	}
}

// FuzzLedger reads any bytes as a ledger: what is understood of them is written and read again as it is.
func FuzzLedger(f *testing.F) {
	f.Add(version1)
	f.Add("version: 2\ntask_status: {T1: gated}\nattempts: {T1: [{result: null, receipt: {summary: \"\\0\"}}]}\n")
	f.Add("attempts: {T1: [{id: -1, started_at: 2026-01-11, usage: {cost_usd: .nan}}]}\ngated_tasks: {T1: }\ncount_from: {T1: 99}")
	f.Add("a: &a {x: 1}\nb: *a\n? [1]\n: 2\n")
	f.Add("integration: {from: main}\nattempts: {T1: [{result: in_progress, landing: {result: success, charged: no, gate: 1}}, {result: success, landing: {result: success}}, {result: in_progress, landing: {}}]}\n")
	f.Add("integration: [1]\nattempts: {T1: [{result: in_progress, landing: x}]}\n")
	e, g := plan(f, 3)
	b := newBench(f, 3)
	s := b.open(f, run1)
	must(f, s.Append(Event{Type: TypeRunStarted, RunStarted: &RunStarted{Integration: "relay/x", Branch: "main", Base: "abc"}}))
	must(f, s.Append(started("T1", 1), failed("T1", 1, "no\nno"), started("T2", 1), landing("T2", 1)))
	must(f, s.Close())
	text, err := os.ReadFile(filepath.Join(b.dir, LedgerFile))
	must(f, err)
	f.Add(string(text))
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseLedger([]byte(text))
		if err != nil {
			return
		}
		one := newFold(g, p.ledger)
		one.extra = p.extra
		first, err := rendered(one)
		must(t, err)
		q, err := parseLedger([]byte(first))
		if err != nil {
			t.Fatalf("%v in\n%s", err, first)
		}
		two := newFold(g, q.ledger)
		two.extra = p.extra // its spelling may change once more
		second, err := rendered(two)
		if err != nil || first != second {
			t.Errorf("%v: got\n%s\nwant\n%s", err, second, first)
		}
		for _, ev := range one.asBase() {
			line, back, err := encode(nil, ev)
			must(t, err)
			if len(line) > 2*bigEvent+len(text)*8 || !bytes.HasSuffix(line, []byte("\n")) || back.Accepted == nil {
				t.Errorf("got %q", line)
			}
		}
		_ = e
	})
}

func TestFrame(t *testing.T) {
	t.Parallel()
	got := string(durable.Frame(nil, []byte(`{"seq":1}`)))
	if want := "{\"crc\":\"2edba99c\",\"seq\":1}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
