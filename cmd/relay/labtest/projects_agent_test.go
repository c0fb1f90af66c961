package labtest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"relay/cmd/relay/internal/claudetest"
)

// projectVariable names the folder with the plan of a project and its calls; see scoredVariable. A reviewer has projectReviewer,
// which says how it answers.
const (
	projectVariable = "PROJECT"
	projectReviewer = "PROJECT_REVIEWER"
)

// projectCall is one call of an honest agent, a stand-in for Claude Code.
type projectCall struct {
	scoredCall
	project labProject
	task    *projectTask
	first   bool
}

func projectAgent() {
	var c projectCall
	c.scoredCall = readCall(projectVariable, &c.project)
	if says := os.Getenv(projectReviewer); says != "" {
		c.hello()
		c.review(says)
		return
	}
	if c.task = c.project.task(os.Getenv("RELAY_TASK")); c.task == nil {
		claudetest.Must(fmt.Errorf("no task %q", os.Getenv("RELAY_TASK")))
	}
	c.scoredCall.task = &scoredTask{ID: c.task.ID}
	c.begin()
	c.first = c.done == 0
	c.hello()
	claudetest.Emit(claudetest.Spoken("I have read the task."))
	<-time.After(time.Duration(c.task.Millis) * time.Millisecond)
	c.run()
}

// review is an answer of a reviewer: an approval, unless its provider refuses it, for two seconds or always.
func (c *projectCall) review(says string) {
	switch says {
	case "login":
		claudetest.Act("fault", "401 Invalid API key. Please run /login")
	case "limit":
		until := time.Now().Add(2 * time.Second).Truncate(time.Second).Add(time.Second)
		if !c.claim("until", fmt.Sprint(until.UnixNano())) {
			text, err := os.ReadFile(filepath.Join(c.dir, "until"))
			claudetest.Must(err)
			until = nanoTime(string(text))
		}
		if time.Now().Before(until) {
			claudetest.Emit(map[string]any{"type": "rate_limit_event", "session_id": claudetest.Session, "rate_limit_info": map[string]any{
				"status": "rejected", "resetsAt": until.Unix(), "rateLimitType": "five_hour",
			}})
			claudetest.Act("fault", "429 You've hit your session limit")
		}
	}
	claudetest.Act("answer", `{"verdict": "APPROVED", "summary": "Fine.", "findings": []}`)
}

// run does the task.
func (c *projectCall) run() {
	t := c.task
	if need := c.project.task(t.Hidden); need != nil {
		if path, _ := c.project.code(need); !there(path) {
			c.fails("early", "missing_dependency", path+" does not exist, and "+t.name()+" uses it")
			return
		}
	}
	switch t.Kind {
	case agentUnable:
		c.fails("unable", "missing_credentials", "there is no access to the staging server from here")
	case agentNothing:
		c.claims("right", "It is there already, and its test passes. Nothing is to be done.")
	case agentVerify:
		c.claims("right", "All tests pass. Nothing is to be done.")
	case agentContext, agentTurns:
		c.part()
	default:
		folder := "."
		if t.Kind == agentCheckout && c.first && syscall.Access(c.project.Root, 2) == nil { // else its tool says that it cannot write there
			folder = c.project.Root
		}
		changed := c.do(folder)
		c.leave()
		c.claims("right", t.name()+" is written, and its test passes.", changed...)
	}
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// do writes the function and its test into a folder, and the line that the task wants, and returns the files that this has changed.
func (c *projectCall) do(folder string) (changed []string) {
	code, text := c.project.code(c.task)
	if c.project.unformatted(c.task) && c.first {
		text = strings.Replace(text, "\n", "  \n", 1)
	}
	test, testText := c.project.test(c.task)
	for _, file := range [][2]string{{code, text}, {test, testText}} {
		path := filepath.Join(folder, file[0])
		if now, err := os.ReadFile(path); err != nil || string(now) != file[1] {
			c.write(path, file[1])
			c.tells(path, file[1])
			changed = append(changed, file[0])
		}
	}
	if line := "- " + c.task.name() + "\n"; c.task.Kind == agentAppend {
		now, err := os.ReadFile("CHANGES.md")
		claudetest.Must(err)
		if !strings.Contains(string(now), line) {
			c.write("CHANGES.md", string(now)+line)
			changed = append(changed, "CHANGES.md")
		}
	}
	return changed
}

// tells prints the tool call that has written a file, with its absolute path as Claude Code has it.
func (c *projectCall) tells(path, text string) {
	path, err := filepath.Abs(path)
	claudetest.Must(err)
	call := map[string]any{"type": "tool_use", "id": "toolu_1", "name": "Write", "input": map[string]any{"file_path": path, "content": text}}
	claudetest.Emit(map[string]any{"type": "assistant", "session_id": claudetest.Session, "message": map[string]any{
		"id": "msg_tool", "role": "assistant", "content": []any{call},
	}})
}

// leave has the work be where the kind of task says: once asked again, all agents leave it as they should.
func (c *projectCall) leave() {
	t := c.task
	if !c.first {
		for path := range t.stray() {
			leaked := t.Kind == agentLeak && there(path)
			claudetest.Must(os.RemoveAll(path))
			if leaked { // it takes the file out of its commit
				runGit("add", "-A")
				runGit("commit", "-q", "--amend", "--no-edit")
			}
		}
		c.commit()
		return
	}
	if t.Kind == agentLeak {
		c.strew()
		t.Commits = true
	}
	switch t.Kind {
	case agentBranch:
		runGit("switch", "-q", "-c", "feature/"+t.name())
		c.commitAll()
		if t.Factor%2 == 0 {
			runGit("switch", "-q", "-")
		}
	case agentDetached:
		runGit("checkout", "-q", "--detach")
		c.commitAll()
	case agentAmend:
		if t.Factor%2 == 0 {
			runGit("commit", "-q", "--amend", "--only", "-m", "A better subject")
			c.commitAll()
			return
		}
		runGit("add", "-A")
		runGit("commit", "-q", "--amend", "--no-edit")
	case agentStash:
		runGit("stash", "-q", "-u")
	default:
		c.commit()
	}
	c.strew()
}

// strew writes the files beside the work.
func (c *projectCall) strew() {
	for path, text := range c.task.stray() {
		c.write(path, text)
	}
}

// part does the first part that is not done, commits it, and comes to the end of its context or turns unless that was the last one.
func (c *projectCall) part() {
	path, text := c.project.code(c.task)
	test, testText := c.project.test(c.task)
	parts := [][2]string{{path, text}, {"docs/" + c.task.name() + ".md", "# " + c.task.name() + "\n"}, {test, testText}}
	if c.task.Kind == agentContext {
		parts = slices.Delete(parts, 1, 2)
	}
	at := slices.IndexFunc(parts, func(part [2]string) bool { return !there(part[0]) })
	if at >= 0 {
		c.write(parts[at][0], parts[at][1])
		c.commitAll()
	}
	if at < 0 {
		c.claims("right", c.task.name()+" is written already, and its test passes.")
		return
	} else if at == len(parts)-1 {
		c.claims("right", c.task.name()+" is written, and its test passes.", test)
		return
	}
	c.end("part")
	if c.task.Kind == agentContext {
		claudetest.Emit(claudetest.Final(map[string]any{
			"subtype": "success", "is_error": true, "api_error_status": 400, "api_error_type": "invalid_request_error", "terminal_reason": "prompt_too_long", "result": "Prompt is too long",
		}))
	} else {
		claudetest.Emit(claudetest.Final(map[string]any{
			"subtype": "error_max_turns", "is_error": true, "terminal_reason": "max_turns", "num_turns": 40, "errors": []string{"Reached maximum number of turns (40)"},
		}))
	}
	os.Exit(1)
}

// commit commits what the agent has made of its task, if it commits at all.
func (c *projectCall) commit() {
	if c.task.Commits {
		c.commitAll()
	}
}

func (c *projectCall) commitAll() {
	runGit("add", "-A")
	if exec.Command("git", "diff", "--cached", "--quiet").Run() == nil {
		return
	}
	message := c.task.name() + ": write it"
	if exec.Command("git", "commit", "-q", "-m", message).Run() != nil { // a hook has changed files
		runGit("add", "-A")
		runGit("commit", "-q", "-m", message)
	}
}

// runGit runs git in the working folder.
func runGit(args ...string) {
	out, err := exec.Command("git", args...).CombinedOutput()
	if err != nil {
		claudetest.Must(fmt.Errorf("git %v: %w: %s", args, err, out))
	}
}

// fails ends the call with a failure that the agent admits.
func (c *projectCall) fails(what, category, why string) {
	c.answers(what, map[string]any{"status": "failure", "summary": "Not finished.", "error_category": category, "error_summary": why})
}

// claims ends the call with success, with the files that the agent says it has changed.
func (c *projectCall) claims(what, summary string, files ...string) {
	c.answers(what, map[string]any{"status": "success", "summary": summary, "files_changed": files})
}

func (c *projectCall) answers(what string, form map[string]any) {
	c.end(what)
	text, err := json.Marshal(form)
	claudetest.Must(err)
	claudetest.Act("result", string(text))
}
