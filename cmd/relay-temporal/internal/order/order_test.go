package order

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/reanchor"
)

var update = flag.Bool("update", false, "write the goldens")

func anAttempt() engine.Attempt {
	task := epic.Task{ID: "T1", Title: "One", Description: "Write the words that nobody may read."}
	return engine.Attempt{
		Run: "20260101T220000Z-beef", Task: task, Number: 2, Base: strings.Repeat("b", 40), Runner: "claude", Wall: time.Hour,
		BriefInput: reanchor.Input{Task: task, Landed: []string{"T0/1"}},
	}
}

func someOptions() *engine.Options {
	return &engine.Options{
		Engine: "machines", Epic: &epic.Epic{ID: "20260101-one", Title: "One", Tasks: []epic.Task{anAttempt().Task}}, Plan: []byte("id: 20260101-one\n"),
		Root: "/home/me/project", Dir: "/home/me/project/.agents-os/relay", Files: []string{"/home/me/.agents.yml"}, Run: "20260101T220000Z-beef",
		Isolation: engine.IsolationWorktree, Worktree: engine.Worktree{Setup: []string{"make deps"}, Copy: []string{".env"}, Dir: "/home/me/slots"},
		Env: []string{"PATH=/bin", "TOKEN=not-to-be-sent"}, CommandEnv: []string{"LOGIN=not-to-be-sent"}, Jobs: 8,
		Limits: engine.Limits{Wall: time.Hour, BriefBytes: 48 << 10},
	}
}

func messages(t *testing.T) map[string]any {
	t.Helper()
	c := ContentsOf(someOptions(), anAttempt())
	files, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	o := Order{
		Version: Version, ID: IDOf(anAttempt()), Base: strings.Repeat("b", 40), Trusted: strings.Repeat("c", 40), Commit: strings.Repeat("d", 40),
		Hash: HashOf(files), Wall: time.Hour,
	}
	return map[string]any{"order": o, "result": Result{
		Version: Version, ID: o.ID, Order: o.Hash, Host: "build1", Commit: strings.Repeat("e", 40), Outcome: attempts.Check,
		Head: strings.Repeat("f", 40), Refs: map[string]string{"refs/relay/20260101-one/T1/2": strings.Repeat("f", 40)},
		Usage: attempts.Usage{InputTokens: 7, CostUSD: 0.5}, Stays: []string{"the work stays on build1"},
	}}
}

// The messages are as they are on record: another relay reads them.
func TestGolden(t *testing.T) {
	t.Parallel()
	all := messages(t)
	c := ContentsOf(someOptions(), anAttempt())
	files, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]byte{"order.json": nil, "result.json": nil, "contents.json": files[orderFile]}
	for name, m := range all {
		if got[name+".json"], err = Encode(m); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range got {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(append(text, '\n'), want) {
			t.Errorf("%s: got %s, want %s (%v)", name, text, want, err)
		}
		for _, secret := range []string{"not-to-be-sent", "/home/me"} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s has %q", name, secret)
			}
		}
		if name != "contents.json" && bytes.Contains(text, []byte("nobody may read")) {
			t.Errorf("%s has text of the plan", name)
		}
	}
}

// A message is what was sent, and another version is refused or read as far as it can be.
func TestDecode(t *testing.T) {
	t.Parallel()
	want := messages(t)["order"].(Order)
	text, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Decode[Order](text); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	version := func(v string) string { return strings.Replace(string(text), `"version":"1.0"`, `"version":"`+v+`"`, 1) }
	more := func(text string) string { return strings.Replace(text, `"base"`, `"later":[1],"base"`, 1) }
	for name, c := range map[string]struct{ text, says string }{
		"newer minor":       {more(version("1.7")), ""},
		"unknown field":     {more(string(text)), `unknown field "later"`},
		"newer major":       {version("2.0"), "a message of version 2.0, and this one reads 1.0; install the same relay on both"},
		"older major":       {version("0.9"), "a message of version 0.9, and this one reads 1.0; install the same relay on both"},
		"no version":        {version(""), `a message of version ""`},
		"odd version":       {version("1.0x"), `a message of version "1.0x"`},
		"two":               {string(text) + "{}", "read a message"},
		"not a message":     {"[]", "read a message"},
		"too long":          {`{"version":"1.0","run":"` + strings.Repeat("a", MaxMessage) + `"}`, "at most"},
		"wrong kind inside": {strings.Replace(string(text), `"number":2`, `"number":"2"`, 1), "read a message of version 1.0"},
	} {
		_, err := Decode[Order]([]byte(c.text))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", name, err, c.says)
		}
		if major := strings.HasSuffix(name, "major"); major != errors.Is(err, ErrVersion) && !strings.HasSuffix(name, "version") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := Encode(Result{Version: Version, Stays: []string{strings.Repeat("a", MaxMessage)}}); err == nil {
		t.Error("a message that is too long was made")
	}
}

// The contents arrive whole, with the host's own options, and other contents are refused.
func TestContents(t *testing.T) {
	t.Parallel()
	sent := ContentsOf(someOptions(), anAttempt())
	files, err := sent.Files()
	if err != nil {
		t.Fatal(err)
	}
	o := messages(t)["order"].(Order)
	got, err := ContentsIn(files, &o)
	if err != nil || !reflect.DeepEqual(got, sent) {
		t.Errorf("got %+v, %v; want %+v", got, err, sent)
	}
	mine := engine.Options{
		Root: "/srv/clone", Dir: "/srv/clone/.agents-os/relay", Env: []string{"PATH=/usr/bin"}, Worktree: engine.Worktree{Dir: "/srv/slots", Setup: []string{"mine"}},
	}
	on := got.On(&mine)
	if on.Root != mine.Root || on.Dir != mine.Dir || !reflect.DeepEqual(on.Env, mine.Env) || on.Worktree.Dir != "/srv/slots" || on.Jobs != 1 {
		t.Errorf("the host's own options are lost: %+v", on)
	}
	if on.Worktree.Setup[0] != "make deps" || on.Worktree.Copy != nil || on.Limits.Wall != time.Hour || on.Epic.ID != "20260101-one" || string(on.Plan) != "id: 20260101-one\n" {
		t.Errorf("the options of the run are lost: %+v", on)
	}
	files[planFile] = append(files[planFile], '#')
	if _, err := ContentsIn(files, &o); err == nil || !strings.Contains(err.Error(), "not what was asked for") {
		t.Errorf("got %v", err)
	}
	o.Task, o.Hash = "T2", HashOf(files)
	if _, err := ContentsIn(files, &o); err == nil || !strings.Contains(err.Error(), "is one of") {
		t.Errorf("got %v", err)
	}
}

// Every option of a run is either sent or the host's own.
func TestEveryOption(t *testing.T) {
	t.Parallel()
	own := []string{"Engine", "Root", "Dir", "Home", "Files", "BackupDir", "Env", "CommandEnv", "Hook", "Sign", "Begin", "Jobs"}
	sent := []string{"Epic", "Plan", "Run", "Trace", "Isolation", "Worktree", "Landing", "Commit", "Push", "Sandbox", "Limits", "Review"}
	for f := range reflect.TypeFor[engine.Options]().Fields() {
		if !strings.Contains(" "+strings.Join(append(own, sent...), " ")+" ", " "+f.Name+" ") {
			t.Errorf("is Options.%s sent to hosts, or is it their own?", f.Name)
		}
	}
}
