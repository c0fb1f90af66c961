package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/checks"
	"relay/runners/sandbox"
)

// refuses returns in words what the sandbox refuses a command of the user's: the last check of a question, or without checks the set-up.
// The output of the failed run says what to try. The command decides: on the user's own commit it fails in the sandbox, and succeeds with
// that allowed or only a run outside of the required sandbox could tell. No code of agents runs with more rights for that.
func refuses(ctx context.Context, b *Benches, q checks.Question, failed attempts.CheckRun) (words string, err error) {
	if b == nil || b.Mine == "" || q.Allow != nil || len(failed.Refused) == 0 {
		return "", nil
	}
	key := fmt.Sprint(failed.Name, each.Of(q.Checks, func(c checks.Check) string { return c.Run }))
	if known, ok := b.refused.Load(key); ok {
		return known.(string), nil
	}
	q = checks.Question{Attempt: q.Attempt, Logs: filepath.Join(q.Logs, "allowed"), Commit: b.Mine, Checks: q.Checks, Bare: q.Bare}
	words, err = tryAllowed(ctx, b, q, failed)
	if err == nil {
		b.refused.Store(key, words)
	}
	return words, err
}

// tryAllowed runs the command in the sandbox, and then with what it was refused. It begins with the sandbox alone: a trial that passes may
// leave what the next one needs.
func tryAllowed(ctx context.Context, b *Benches, q checks.Question, failed attempts.CheckRun) (words string, err error) {
	if slices.Equal(failed.Refused, []string{sandbox.Unnamed}) { // most often it fails outside, too
		q.Allow = failed.Refused
		if out, err := runAllowed(ctx, b, q, failed); err != nil || out.ExitCode != 0 {
			return "", err
		}
	}
	q.Allow = []string{}
	inside, err := runAllowed(ctx, b, q, failed)
	if err != nil || inside.ExitCode == 0 {
		return "", err
	}
	allow, tried := []string{}, inside
	for more := failed.Refused; len(more) > 0 && len(allow) < 5; { // none after a trial that passes, or that is not made
		allow = append(allow, more...)
		q.Allow = allow
		if tried, err = runAllowed(ctx, b, q, failed); err != nil {
			return "", err
		}
		more = slices.DeleteFunc(tried.Refused, func(path string) bool { return slices.Contains(allow, path) })
	}
	if tried.ExitCode != 0 && (tried.ExitCode > math.MinInt || sandbox.Words(inside.Refused, "") == "") {
		return "", nil
	}
	return failed.Name + ": " + plaintext.FirstOf(
		sandbox.Words(allow, ""), "it fails in the sandbox, and passes outside (relay.sandbox: off in your own settings)"), nil
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
	return last, err
}
