package labtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/cmd/relay/internal/claudetest"
)

// scoredVariable is the folder with the plan of the scored night and its calls:
//
//	plan.json            the plan
//	calls/NNN            the NNN-th call, with the task's id in it
//	ends/NNN-TASK-WHAT   what that call came to, when it got so far
//	faults/N             the N-th fault of the plan has been met
//	refused              how the provider refuses everything, until when, and since when
const scoredVariable = "SCORE"

// scoredCall is one call of the agent of a scored night, a stand-in for Claude Code whose work, lies and faults the plan
// says. It is told its task in the prompt; who asks without naming it gets the form of the task in RELAY_TASK.
type scoredCall struct {
	dir    string
	plan   scoredPlan
	task   *scoredTask
	prompt string
	number int // of this call, over all tasks
	done   int // earlier calls for this task that came to something
}

var workOrder = regexp.MustCompile(`Work order (T\d+):`)

func scoredAgent() {
	var plan scoredPlan
	c := readCall(scoredVariable, &plan)
	c.plan = plan
	id := os.Getenv("RELAY_TASK")
	if m := workOrder.FindStringSubmatch(c.prompt); m != nil {
		id = m[1]
	}
	if c.task = c.plan.task(id); c.task == nil {
		claudetest.Must(fmt.Errorf("no task %q in the prompt", id))
	}
	c.begin()
	if c.refused() {
		return
	}
	c.run()
}

// readCall reads the prompt of a stand-in for Claude Code, and the plan from the folder that a variable names. Asked for its version, the
// stand-in gives that and ends.
func readCall(variable string, plan any) scoredCall {
	if slices.Equal(os.Args[1:], []string{"--version"}) {
		fmt.Println("2.1.329 (Claude Code)")
		os.Exit(0)
	}
	c := scoredCall{dir: os.Getenv(variable)}
	text, err := os.ReadFile(filepath.Join(c.dir, "plan.json"))
	claudetest.Must(err)
	claudetest.Must(json.Unmarshal(text, plan))
	prompt, err := io.ReadAll(os.Stdin)
	claudetest.Must(err)
	c.prompt = string(prompt)
	return c
}

// begin takes the next number, and looks at what has been before.
func (c *scoredCall) begin() {
	for c.number = 1; ; c.number++ {
		if c.claim(fmt.Sprintf("calls/%03d", c.number), c.task.ID) {
			break
		}
	}
	ends, err := filepath.Glob(filepath.Join(c.dir, "ends", "*-"+c.task.ID+"-*"))
	claudetest.Must(err)
	for _, end := range ends {
		if !strings.Contains(end, "-refused") {
			c.done++
		}
	}
}

// claim makes a file, and reports whether it was not there before.
func (c *scoredCall) claim(name, text string) bool {
	f, err := os.OpenFile(filepath.Join(c.dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false
	}
	claudetest.Must(err)
	_, err = f.WriteString(text)
	claudetest.Must(err)
	claudetest.Must(f.Close())
	return true
}

// end notes what this call came to.
func (c *scoredCall) end(what string) {
	c.claim(fmt.Sprintf("ends/%03d-%s-%s", c.number, c.task.ID, what), "")
}

// How long the provider refuses everything, and for how long after its first refusal nobody can know of it.
const (
	scoredQuota  = 3 * time.Second
	scoredWall   = time.Second
	scoredUnseen = 300 * time.Millisecond
)

// refused reports whether the provider has refused this call, because of a fault of the plan or of one that lasts.
func (c *scoredCall) refused() bool {
	for i, f := range c.plan.Faults {
		if f.Call <= c.number && c.task.Kind != kindPoison && c.claim(fmt.Sprintf("faults/%d", i), "") {
			c.fault(f.Kind)
			return true
		}
	}
	text, _ := os.ReadFile(filepath.Join(c.dir, "refused"))
	kind, nanos, _ := strings.Cut(string(text), " ")
	nanos, since, _ := strings.Cut(nanos, " ")
	until, begun := nanoTime(nanos), nanoTime(since)
	if !time.Now().Before(until) {
		return false
	}
	what := "refused"
	if time.Since(begun) < scoredUnseen {
		what = "refused-begun"
	}
	c.refuse(kind, what, until)
	return true
}

func nanoTime(text string) time.Time {
	nanos, _ := strconv.ParseInt(text, 10, 64)
	return time.Unix(0, nanos)
}

// fault begins a fault of the provider.
func (c *scoredCall) fault(kind string) {
	lasts := map[string]time.Duration{"quota": scoredQuota, "wall": scoredWall}[kind]
	until := time.Now().Add(lasts).Truncate(time.Second).Add(time.Second) // resets are told in whole seconds
	if kind == "wall" {
		until = time.Now().Add(lasts)
	}
	if lasts > 0 {
		path := filepath.Join(c.dir, "refused")
		claudetest.Must(os.WriteFile(path+".new", fmt.Appendf(nil, "%s %d %d", kind, until.UnixNano(), time.Now().UnixNano()), 0o644))
		claudetest.Must(os.Rename(path+".new", path))
	}
	c.refuse(kind, "refused-first", until)
}

// refuse ends the call as Claude Code ends at such a fault.
func (c *scoredCall) refuse(kind, what string, until time.Time) {
	c.end(what)
	if kind == "start" {
		fmt.Fprintln(os.Stderr, "Error: Cannot find module '/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js'")
		os.Exit(1)
	}
	c.hello()
	switch kind {
	case "quota":
		claudetest.Emit(map[string]any{"type": "rate_limit_event", "session_id": claudetest.Session, "rate_limit_info": map[string]any{
			"status": "rejected", "resetsAt": until.Unix(), "rateLimitType": "five_hour",
		}})
		claudetest.Act("fault", "429 You've hit your session limit")
	case "login":
		claudetest.Act("fault", "401 Invalid API key")
	}
	claudetest.Act("fault", "529 Overloaded")
}

func (c *scoredCall) hello() {
	claudetest.Emit(map[string]any{"type": "system", "subtype": "init", "session_id": claudetest.Session, "model": "claude-fake", "tools": []string{}})
}

// run does what the kind of task says.
func (c *scoredCall) run() {
	t := c.task
	if strings.Contains(c.prompt, "relay has looked at your work") { // it puts back what it changed of them, and does the work
		c.hello()
		c.write("tests/"+t.file(), c.plan.test(t, 0))
		c.write("tests/expect.sh", scoredExpect)
		c.writes("0")
		c.claims("right")
		return
	}
	if !workOrder.MatchString(c.prompt) {
		c.hello()
		c.claims("right")
		return
	}
	if t.Kind == kindPoison {
		c.poison()
		return
	}
	c.hello()
	c.work()
	claudetest.Emit(claudetest.Spoken("I have read the task."))
	c.work()
	first := c.done == 0
	switch {
	case t.Kind == kindNever:
		c.writes("2")
		c.claims("wrong")
	case t.Kind == kindTwice && first, (t.Kind == kindSlip || t.Kind == kindTwice) && !c.told():
		c.writes("1")
		c.claims("wrong")
	case t.Kind == kindTwice && c.done == 1:
		c.writes("($1 == 12)")
		c.claims("wrong")
	case first:
		c.first()
	default:
		c.writes("0")
		c.claims("right")
	}
}

// work takes half the time that the agent works.
func (c *scoredCall) work() { <-time.After(time.Duration(c.task.Millis) * time.Millisecond / 2) }

// told reports whether the prompt says what the task's test has printed.
func (c *scoredCall) told() bool {
	return slices.ContainsFunc(c.task.Cases, func(x int) bool {
		return strings.Contains(c.prompt, fmt.Sprintf("%s %d: expected %d", c.task.function(), x, c.plan.value(c.task, x)%97))
	})
}

// first is the first call of a kind that does better the second time, or that is right in an odd way.
func (c *scoredCall) first() {
	t := c.task
	switch t.Kind {
	case kindLiar:
		c.write("lib/"+t.file(), t.function()+"() { :; }\n")
		c.claims("lied")
	case kindIdle:
		c.claims("lied")
	case kindAdmits:
		c.writes("3")
		c.end("failed")
		claudetest.Act("result", `{"status":"failure","summary":"Not finished.","error_summary":"`+t.function()+` does not pass its test yet"}`)
	case kindSoftens:
		c.write("tests/"+t.file(), c.plan.test(t, 1))
		c.writes("1")
		c.claims("cheated")
	case kindHelper:
		c.write("tests/expect.sh", scoredNoExpect)
		c.writes("1")
		c.claims("cheated")
	case kindMeddles:
		c.write("ci/lint.sh", ":\n")
		c.writes("0")
		c.claims("meddled")
	case kindHangs:
		c.writes("4")
		c.end("hung")
		if t.Factor%2 == 0 { // in a tool, and not in its model
			claudetest.Emit(map[string]any{"type": "assistant", "session_id": claudetest.Session, "message": map[string]any{
				"id": "msg_2", "role": "assistant",
				"content": []any{map[string]any{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": map[string]any{"command": "npm test -- --watch"}}},
			}})
		}
		claudetest.Act("hang", "")
	case kindCrashes:
		c.writes("5")
		c.end("crashed")
		self, err := os.FindProcess(os.Getpid())
		claudetest.Must(err)
		claudetest.Must(self.Kill())
		claudetest.Act("hang", "")
	default:
		c.writes("0")
		c.claims("right")
	}
}

// poison fails as a provider does that never answers for this task; how, the task's id decides.
func (c *scoredCall) poison() {
	c.end("poison")
	c.hello()
	c.work()
	switch c.task.Factor % 3 {
	case 0:
		claudetest.Act("hang", "")
	case 1:
		claudetest.Emit(claudetest.Final(map[string]any{"subtype": "success", "is_error": true, "terminal_reason": "api_error", "result": "API Error: Connection dropped mid-response"}))
		os.Exit(1)
	}
	claudetest.Act("fault", "529 Overloaded")
}

func (c *scoredCall) write(path, text string) {
	claudetest.Must(os.MkdirAll(filepath.Dir(path), 0o755))
	claudetest.Must(os.WriteFile(path, []byte(text), 0o644))
}

// writes writes the function, with something added to what it prints, and whatever else the task wants.
func (c *scoredCall) writes(added string) {
	t := c.task
	c.write("lib/"+t.file(), t.code(added))
	if t.Kind == kindMeets {
		text, err := os.ReadFile("registry.txt")
		claudetest.Must(err)
		if !strings.Contains(string(text), t.function()+"\n") {
			c.write("registry.txt", string(text)+t.function()+"\n")
		}
	}
	if t.Commits {
		claudetest.Must(exec.Command("git", "add", "-A").Run())
		_ = exec.Command("git", "commit", "-q", "-m", t.title()).Run() // there may be nothing new
	}
}

// claims ends the call with success, in the form that the kind of task has.
func (c *scoredCall) claims(what string) {
	c.end(what)
	form := fmt.Sprintf(`{"status":"success","summary":"%s is written and its test passes.","files_changed":["lib/%s"]}`, c.task.function(), c.task.file())
	switch {
	case !workOrder.MatchString(c.prompt):
	case c.task.Kind == kindFormless:
		claudetest.Act("answer", "I have written "+c.task.function()+", and its test passes.")
		return
	case c.task.Kind == kindFenced:
		claudetest.Act("answer", "Done.\n\n```json\n"+form+"\n```")
		return
	case c.task.Kind == kindTorn:
		if path := os.Getenv("RELAY_RESULT"); path != "" {
			c.write(path, form[:len(form)/2])
		}
		claudetest.Act("answer", "Done.")
		return
	}
	claudetest.Act("result", form)
}
