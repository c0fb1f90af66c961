package process

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// BenchmarkTrue compares starting and waiting for a program that does nothing with a bare loop of exec.Cmd, in one
// run: the ratio is what supervision costs.
func BenchmarkTrue(b *testing.B) {
	path, err := exec.LookPath("true")
	if err != nil {
		b.Skip(err)
	}
	bare := func(b *testing.B) {
		b.Helper()
		if err := exec.Command(path).Run(); err != nil {
			b.Fatal(err)
		}
	}
	with := func(s Supervisor, end bool) func(*testing.B) {
		cmd := shell(b, "")
		cmd.Argv = []string{path}
		cmd.Env = os.Environ()
		if !end {
			cmd.End = ""
		}
		return func(b *testing.B) {
			b.Helper()
			exit := run(b, s, cmd)
			if exit.Code != 0 || exit.Lost {
				b.Fatalf("%+v", exit)
			}
		}
	}
	for _, bench := range []struct {
		name string
		once func(*testing.B)
	}{
		{"local", with(NewLocal(), false)},
		{"guardian", with(startGuardian(b), false)},
		{"guardian+end", with(startGuardian(b), true)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var floor, cost time.Duration
			for b.Loop() { // in turns, so that a busy machine is busy for both
				began := time.Now()
				bare(b)
				mid := time.Now()
				bench.once(b)
				floor, cost = floor+mid.Sub(began), cost+time.Since(mid)
			}
			b.ReportMetric(float64(cost)/float64(floor), "x-bare")
			b.ReportMetric(float64(cost-floor)/float64(b.N)/1000, "µs-over-bare")
		})
	}
}
