package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/runners/sandbox"
)

// refuses returns in words what the sandbox refuses a command of the user's: the last check of a question, or without checks the set-up.
// The output of the failed run says what to try. The command decides: on the user's own commit it fails in the sandbox, and succeeds with
// that allowed or only a run outside of the required sandbox could tell. No code of agents runs with more rights for that.
func refuses(ctx context.Context, b *Benches, q checks.Question, failed attempts.CheckRun) (words string, err error) {
	if b == nil || b.Mine == "" || q.Allow != nil || len(failed.Refused) == 0 || allows(b.Checks.Options, failed.Refused) {
		return "", nil
	}
	key := fmt.Sprint(failed.Name, q.Mine, q.Bare, each.Of(q.Checks, func(c checks.Check) string { return c.Run }))
	b.trying.Lock()
	defer b.trying.Unlock()
	switch known, _ := b.refused.Load(key); known := known.(type) {
	case string:
		return known, nil
	case time.Time:
		if time.Now().Before(known) {
			return "", nil
		}
	}
	q = checks.Question{Attempt: q.Attempt, Logs: filepath.Join(q.Logs, "allowed"), Commit: b.Mine, Checks: q.Checks, Bare: q.Bare}
	words, err = tryAllowed(ctx, b, q, failed)
	switch {
	case errors.Is(err, errNotSetUp): // the network may be down, for all slots: 5 minutes by default
		b.refused.Store(key, time.Now().Add(10*b.Checks.Options.Limits.Backoff))
		return "", nil
	case err == nil && ctx.Err() == nil:
		b.refused.Store(key, words)
	}
	return words, err
}

// errNotSetUp means that a trial says nothing, as set-up fails in it with all that it may need.
var errNotSetUp = errors.New("set-up fails in the trial, too")

// allows reports whether the sandbox of the run allows all of a list, as far as is known.
func allows(o *engine.LocalOptions, refused []string) bool {
	return o.Allowed != nil && o.Allowed(refused)
}

// tryAllowed runs the command with what it was refused, and if it succeeds in the sandbox alone, twice: it may have failed for a moment.
func tryAllowed(ctx context.Context, b *Benches, q checks.Question, failed attempts.CheckRun) (words string, err error) {
	var tried attempts.CheckRun
	for more := failed.Refused; len(more) > 0 && len(q.Allow) < 5; { // none after a trial that passes, or that is not made
		q.Allow = append(q.Allow, more...)
		if tried, err = runAllowed(ctx, b, q, failed); err != nil || slices.Contains(q.Allow, sandbox.Logins) {
			break
		}
		more = slices.DeleteFunc(tried.Refused, func(path string) bool { return slices.Contains(q.Allow, path) })
	}
	if err != nil || tried.ExitCode != 0 && tried.ExitCode > math.MinInt {
		return "", err
	}
	allow := q.Allow
	q.Allow = []string{}
	for range 2 {
		inside, err := runAllowed(ctx, b, q, failed)
		if err != nil || inside.ExitCode == 0 || tried.ExitCode != 0 && sandbox.Words(inside.Refused, "", nil) == "" {
			return "", err
		}
	}
	return failed.Name + ": " + plaintext.FirstOf(
		sandbox.Words(allow, "", nil), "it fails in the sandbox, and passes outside (relay.sandbox: off in your own settings)"), nil
}

// runAllowed runs the commands of a question with what the sandbox refuses, and returns the last run; its exit
// code is the least integer if it would have to be outside of a required sandbox.
func runAllowed(ctx context.Context, b *Benches, q checks.Question, failed attempts.CheckRun) (last attempts.CheckRun, err error) {
	var tr Trouble
	_, _, err = b.asker().run(ctx, q, &tr, func(_ checks.Check, r checks.Result) (bool, error) {
		last = r.Run
		return true, nil
	})
	if errors.Is(err, sandbox.ErrUntried) {
		return attempts.CheckRun{ExitCode: math.MinInt}, nil
	}
	if tr.Any() {
		last = append(tr.Runs, failed)[0]
	}
	if err == nil && len(tr.Runs) > 0 && (len(q.Checks) > 0 || slices.Contains(q.Allow, sandbox.Logins)) {
		err = errNotSetUp
	}
	return last, err
}
