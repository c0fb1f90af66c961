package configs

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// repository makes a folder with the two files; an empty text makes no file.
func repository(t *testing.T, shared, local string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{SharedFile: shared, LocalFile: local} {
		if content == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t *testing.T, s Sources) *Config {
	t.Helper()
	c, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// known are the agents that need no configuration, and more.
func known(more map[string]Agent) map[string]Agent {
	agents := map[string]Agent{}
	f, _ := fieldOf("relay.agents.*.permission") // those of CLIs have one
	for _, name := range f.only {
		agents[name] = Agent{Type: name, Prompt: "stdin", Result: "file", StopSignal: "TERM"}
	}
	maps.Copy(agents, more)
	return agents
}

func TestDefaultsAreComplete(t *testing.T) {
	t.Parallel()
	c := load(t, Sources{})
	got := c.Relay
	want := Relay{
		Dir: ".agents-os/relay", MaxAttemptsPerTask: 3,
		Timeout: 15 * time.Minute, Silence: 10 * time.Minute, FirstAnswer: 5 * time.Minute, Linger: 30 * time.Second, StopGrace: 10 * time.Second,
		CheckTimeout: 10 * time.Minute, Jobs: 1, Isolation: "worktree", Runners: []string{"claude"}, MaxUncharged: 20,
		MaxUnchargedRun: 100, MaxFileMiB: 5, MaxFailedInARow: 5, MaxSameError: 3, MaxUndone: 1,
		RecheckPercent: 10, DiskFloorMiB: 500, MemoryFloorMiB: 200, FloorWait: 10 * time.Minute,
		Landing: "merge", Commit: "{{.ID}}: {{.Title}}", Worktree: Worktree{Setup: []string{}, Copy: []string{}, Share: []string{"auto"}, ShareMaxMiB: 2048}, SetupTimeout: 10 * time.Minute,
		Backoff: 30 * time.Second, BackoffMax: 15 * time.Minute, MaxTaskFaults: 3, OutAfterFailures: 5, OutAfter: 10 * time.Minute,
		GiveUp: 8 * time.Hour, Budget: Budget{USD: 50}, Prices: Prices{}, BriefKiB: 48, TranscriptMiB: 32, InhibitSleep: true, Sandbox: "auto", SandboxWrite: []string{}, SandboxSockets: []string{}, SandboxNetwork: SandboxNetwork{[]string{"open"}, []string{"open"}}, Env: []string{},
		Records: Records{LedgerSync: true, Artifacts: true, Discussions: true, Sessions: true, Checkpoints: "stop"},
		Learn:   "propose",
		Review:  Review{Enabled: true, Rounds: 2, Provider: "none", Timeout: 10 * time.Minute},
		Agents:  known(nil), Notify: map[string]Receiver{},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got, want := c.QualityGate, (QualityGate{Reviewers: []string{}, Strictness: "standard", EpicRounds: 2}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, f := range fields {
		if _, ok := c.Lookup(f.key); !ok && !strings.Contains(f.key, "*") {
			t.Errorf("%s has no default in defaults.yml", f.key)
		}
	}
}

func TestEachLayerOverridesTheOneBelow(t *testing.T) {
	t.Parallel()
	user := filepath.Join(t.TempDir(), "agents.yml")
	if err := os.WriteFile(user, []byte("relay: {jobs: 2}"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := repository(t, "relay: {jobs: 3}", "relay:\n  jobs: 4")
	s := Sources{}
	steps := []struct {
		add    func()
		jobs   int
		origin string
	}{
		{func() {}, 1, "default"},
		{func() { s.UserFile = user }, 2, user + ":1"},
		{func() { s.Dir = repository(t, "relay: {jobs: 3}", "") }, 3, ".agents.yml:1"},
		{func() { s.Dir = dir }, 4, ".agents.local.yml:2"},
		{func() { s.Environ = []string{"RELAY_JOBS=5"} }, 5, "RELAY_JOBS"},
		{func() { s.Flags = map[string]any{"relay.jobs": 6} }, 6, "flag"},
	}
	for _, step := range steps {
		step.add()
		c := load(t, s)
		if c.Relay.Jobs != step.jobs {
			t.Errorf("jobs %d, want %d", c.Relay.Jobs, step.jobs)
		}
		if v, _ := c.Lookup("relay.jobs"); !strings.HasSuffix(v.Origin, step.origin) || v.Value != step.jobs {
			t.Errorf("explained as %+v, want %d from %s", v, step.jobs, step.origin)
		}
	}
}

func TestEmptyLocalValuesOverride(t *testing.T) {
	t.Parallel()
	dir := repository(t, `
relay:
  linger_seconds: 5
  model: opus
  runners: [claude]
  env: [FOO]
  review: {enabled: true, provider: gemini}
quality_gate: {reviewers: [codex]}
`, `
relay:
  linger_seconds: 0
  model: ""
  runners: []
  env: []
  review: {enabled: false}
quality_gate: {reviewers: []}
`)
	c := load(t, Sources{Dir: dir})
	r := c.Relay
	if r.Linger != 0 || r.Model != "" || len(r.Runners)+len(r.Env)+len(c.QualityGate.Reviewers) != 0 || r.Review.Enabled {
		t.Errorf("an empty value did not override: %+v %+v", r, c.QualityGate)
	}
	if got, want := r.Review.Provider, "gemini"; got != want {
		t.Errorf("provider %q, want %q: maps merge", got, want)
	}
}

func TestMapsMergeAndListsReplace(t *testing.T) {
	t.Parallel()
	dir := repository(t,
		"relay: {runners: [claude, make], agents: {make: {type: command, argv: [make, it]}}}",
		"relay: {runners: [make], agents: {make: {argv: [gmake]}, claude: {model: opus}}}")
	got := load(t, Sources{Dir: dir}).Relay
	if want := []string{"make"}; !slices.Equal(got.Runners, want) {
		t.Errorf("runners %v, want %v", got.Runners, want)
	}
	want := known(map[string]Agent{
		"make":   {Type: "command", Argv: []string{"gmake"}, Prompt: "stdin", Result: "file", StopSignal: "TERM"},
		"claude": {Type: "claude", Model: "opus", Prompt: "stdin", Result: "file", StopSignal: "TERM"},
	})
	if !reflect.DeepEqual(got.Agents, want) {
		t.Errorf("got  %+v\nwant %+v", got.Agents, want)
	}
}

// viper folds the case of map keys, and would make one agent of these two.
func TestNamesOfAgentsKeepTheirCase(t *testing.T) {
	t.Parallel()
	dir := repository(t, "relay: {agents: {Fast: {type: claude, model: a}, fast: {type: claude, model: b}, y: {type: claude}}}", "")
	agents := load(t, Sources{Dir: dir}).Relay.Agents
	if agents["Fast"].Model != "a" || agents["fast"].Model != "b" || agents["y"].Type != "claude" {
		t.Errorf("got %+v", agents)
	}
}

// viper's AutomaticEnv finds no variable for a nested key that has no default.
func TestVariablesReachNestedKeysWithoutDefault(t *testing.T) {
	t.Parallel()
	dir := repository(t, "relay: {agents: {my-agent: {type: claude}}}", "")
	c := load(t, Sources{Dir: dir, Environ: []string{
		"RELAY_AGENTS_MY_AGENT_MODEL=opus", "RELAY_REVIEW_PROVIDER=gemini", "RELAY_REVIEW_ENABLED=false",
		"RELAY_QUALITY_GATE_STRICTNESS=strict", "RELAY_TIMEOUT_MINUTES=0.5", "RELAY_RUNNERS=my-agent, claude", `RELAY_ENV=["A=1,2", B]`,
	}})
	if got, want := c.Relay.Agents["my-agent"].Model, "opus"; got != want {
		t.Errorf("model %q, want %q", got, want)
	}
	if got, want := c.Relay.Review, (Review{Rounds: 2, Provider: "gemini", Timeout: 10 * time.Minute}); got != want {
		t.Errorf("review %+v, want %+v", got, want)
	}
	if got, want := c.Relay.Timeout, 30*time.Second; got != want {
		t.Errorf("timeout %v, want %v", got, want)
	}
	if got, want := c.Relay.Runners, []string{"my-agent", "claude"}; !slices.Equal(got, want) {
		t.Errorf("runners %v, want %v", got, want)
	}
	if got, want := c.Relay.Env, []string{"A=1,2", "B"}; !slices.Equal(got, want) {
		t.Errorf("env %v, want %v", got, want)
	}
	if c.QualityGate.Strictness != "strict" || len(c.Warnings) != 0 {
		t.Errorf("strictness %q, warnings %q", c.QualityGate.Strictness, c.Warnings)
	}
}

// viper decodes past a key that the struct does not have.
func TestTyposAreErrors(t *testing.T) {
	t.Parallel()
	_, err := Load(Sources{Dir: repository(t, "relay:\n  job: 2", "")})
	if err == nil || !strings.HasSuffix(err.Error(), `.agents.yml:2:3: unknown key "job" under relay (did you mean "jobs"?)`) {
		t.Errorf("got %v", err)
	}
}

func TestOwnVariablesAreNoSettings(t *testing.T) {
	t.Parallel()
	environ := []string{"RELAY_JOBS=", "PATH=/bin", "RELAYED=1"}
	for _, name := range ours {
		environ = append(environ, name+"=/elsewhere")
	}
	c := load(t, Sources{Environ: environ})
	if got, want := c.Relay.Dir, ".agents-os/relay"; got != want {
		t.Errorf("dir %q, want %q", got, want)
	}
	if len(c.Warnings) != 0 {
		t.Errorf("warnings %q, want none", c.Warnings)
	}
	for _, f := range fields {
		if slices.Contains(ours, variable(f.key)) {
			t.Errorf("%s takes relay's own variable %s", f.key, variable(f.key))
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	dir := repository(t, "Relay: {jobs: 9}\nrelay: {jobs: 2, isolation: none}\nreplay: {}\n", "")
	got := load(t, Sources{Dir: dir, Environ: []string{"RELAY_JOB=3", "RELAY_ZZZZZZZZZ=3"}}).Warnings
	want := []string{
		`.agents.yml:1:1: "Relay" is ignored: relay reads "relay"`,
		"RELAY_JOB is not a setting of relay; did you mean RELAY_JOBS?",
		"RELAY_ZZZZZZZZZ is not a setting of relay",
		"relay.jobs is 2, but relay.isolation none runs one task at a time",
	}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if !strings.HasSuffix(got[i], want[i]) {
			t.Errorf("got %q, want it to end in %q", got[i], want[i])
		}
	}
}

func TestFlagValues(t *testing.T) {
	t.Parallel()
	c := load(t, Sources{Flags: map[string]any{
		"relay.timeout_minutes": 90 * time.Second, "relay.silence_minutes": 2, "relay.linger_seconds": 0.5,
		"relay.review.enabled": false, "relay.runners": []string{"claude"}, "relay.jobs": "2", "relay.isolation": "shared",
	}})
	got := []time.Duration{c.Relay.Timeout, c.Relay.Silence, c.Relay.Linger}
	if want := []time.Duration{90 * time.Second, 2 * time.Minute, time.Second / 2}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := Load(Sources{Flags: map[string]any{"relay.jobs": true}}); err == nil {
		t.Error("a bool passed for a number")
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	dir := repository(t, "relay:\n  env: [HOME, TOKEN=secret]\n  timeout_minutes: 1.5\n", "")
	c := load(t, Sources{Dir: dir})
	v, _ := c.Lookup("relay.env")
	if got, want := v.String(), "[HOME, TOKEN=…]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := v.Origin, filepath.Join(dir, SharedFile)+":2"; got != want {
		t.Errorf("origin %q, want %q", got, want)
	}
	if v, _ := c.Lookup("relay.timeout_minutes"); v.String() != "1.5" {
		t.Errorf("got %q, want 1.5", v)
	}
	if got, _ := c.Keys("relay.review"); len(got) != 4 {
		t.Errorf("got %v, want the four settings of the review", got)
	}
	if got, near := c.Keys("relay.max_attempts"); got != nil || near != "relay.max_attempts_per_task" {
		t.Errorf("got %v and %q", got, near)
	}
}

func TestNotify(t *testing.T) {
	t.Parallel()
	const written = "relay:\n  notify:\n    phone: {on: [ended, question], url: 'https://user:key@ntfy.sh/secret?auth=key', template: '{{.Message}}'}\n    desk: {on: [gated], argv: [curl, -H, 'Token: key']}\n"
	user := filepath.Join(t.TempDir(), "agents.yml")
	if err := os.WriteFile(user, []byte(written), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := repository(t, written, written)
	for name, test := range map[string]struct {
		s        Sources
		want     int
		warnings int
	}{
		"user":          {Sources{UserFile: user}, 2, 0},
		"shared":        {Sources{Dir: repository(t, written, "")}, 0, 1},
		"local":         {Sources{Dir: repository(t, "", written)}, 2, 0},
		"tracked local": {Sources{Dir: dir, Tracked: func(string) bool { return true }}, 0, 2},
		"variable":      {Sources{UserFile: user, Environ: []string{"RELAY_NOTIFY_PHONE_URL=https://evil.example/"}}, 2, 1},
	} {
		c := load(t, test.s)
		if len(c.Relay.Notify) != test.want || len(c.Warnings) != test.warnings {
			t.Errorf("%s: %+v, warnings %q", name, c.Relay.Notify, c.Warnings)
		}
		for _, text := range c.Warnings {
			if name != "variable" && !strings.Contains(text, ".yml:2:3: relay.notify is ignored") || strings.Contains(text, "key") {
				t.Errorf("%s: %s", name, text)
			}
		}
		for _, v := range c.Explain() {
			if text := v.String(); strings.Contains(text, "key") || strings.Contains(text, "/secret") {
				t.Errorf("%s: %s is shown as %s", name, v.Key, text)
			}
		}
	}
	for src, want := range map[string]string{
		"{a: {on: [ended]}}": "needs one of argv, url and desktop",
		"{a: {on: [ended], url: 'http://x', desktop: true}}":    "needs one of argv, url and desktop",
		"{a: {desktop: true}}":                                  "has no events",
		"{a: {on: [done], desktop: true}}":                      `relay.notify.a.on[0] "done" is not an event: ended,`,
		"{a: {on: [ended], url: 'ftp://u:key@x'}}":              "relay.notify.a.url is not an address",
		"{a: {on: [ended], desktop: true, template: '{{.X}}'}}": "is not a template of a notification: ",
		"{a b: {}}": `"a b" is not a name`,
	} {
		_, err := Load(Sources{Dir: repository(t, "", "relay: {notify: "+src+"}")})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "key@") {
			t.Errorf("%s: got %v, want %s", src, err, want)
		}
	}
	c := load(t, Sources{UserFile: user})
	if v, _ := c.Lookup("relay.notify.phone.url"); v.Value != "https://ntfy.sh/…" {
		t.Errorf("got %v", v.Value)
	}
	if got := c.Relay.Notify["phone"]; !strings.HasSuffix(got.URL, "?auth=key") || !slices.Equal(got.On, []string{"ended", "question"}) {
		t.Errorf("got %+v", got)
	}
}
