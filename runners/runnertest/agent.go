// Package runnertest holds every runner to the same promises, against agents that misbehave in every known way.
package runnertest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Act names what a fake agent does. The first word an agent reads of its part is the environment variable ActVariable.
type Act string

// ActVariable tells a fake agent its act.
const ActVariable = "RUNNERTEST_ACT"

// The acts of a fake agent.
const (
	Succeed    Act = "succeed"     // does its work and says so
	Fail       Act = "fail"        // says that it failed
	SayNothing Act = "say-nothing" // ends well, without a result
	Babble     Act = "babble"      // its result is not JSON
	BeNoisy    Act = "be-noisy"    // warnings on both outputs, then a good result
	HugeLine   Act = "huge-line"   // a line of 20 MB, then a good result
	Flood      Act = "flood"       // 64 MB of lines, then a good result
	Garbage    Act = "garbage"     // NULs, invalid UTF-8 and escape codes, also within the result
	Hang       Act = "hang"        // makes ReadyFile, then nothing
	Stubborn   Act = "stubborn"    // as Hang, and ignores TERM
	Linger     Act = "linger"      // a good result, and then as Hang
	Crash      Act = "crash"       // exit status 3 with "boom" on stderr
	ReadPrompt Act = "read-prompt" // succeeds when the prompt ends with PromptEnd
	LookAround Act = "look-around" // writes its arguments and environment to the files argv and env, and succeeds
	LinkResult Act = "link-result" // its result file is a symbolic link to a good result
	Missing    Act = "missing"     // the program is not there
)

// PromptEnd is the last line of every prompt.
const PromptEnd = "end of the prompt"

const (
	goodResult = `{"status":"success","summary":"did it","files_changed":["a.txt"],"shade":"blue"}`
	sadResult  = `{"status":"failure","summary":"tried","error_summary":"could not do it","suggestion":"ask"}`
	dirtyText  = "be\x00fore \x1b[31mred\x1b[0m \xff\xfe \x1b]0;title\x07 \u202eafter"
	dirtyJSON  = `{"status":"success","summary":"be\u0000fore \u001b[31mred\u001b[0m \u202eafter"}`
)

// Voice is how one kind of agent talks on stdout.
type Voice struct {
	Begin func(w io.Writer)
	Say   func(w io.Writer, text string)
	End   func(w io.Writer, result string) // the final message, with a result when it is not ""
}

// Play is the main function of a fake agent: it plays the act of its environment, and returns the exit status.
func Play(v Voice) int {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 90
	}
	out := os.Stdout
	v.Begin(out)
	switch act := Act(os.Getenv(ActVariable)); act {
	case Fail:
		v.End(out, sadResult)
	case SayNothing:
		v.End(out, "")
	case Babble:
		os.WriteFile(os.Getenv("RELAY_RESULT"), []byte("I think it went well\n"), 0o600)
		v.End(out, "")
	case Crash:
		fmt.Fprintln(os.Stderr, "boom")
		return 3
	case Hang, Stubborn:
		return hang(act)
	case ReadPrompt:
		if !bytes.HasSuffix(bytes.TrimSpace(prompt), []byte(PromptEnd)) {
			return 91
		}
		v.End(out, goodResult)
	case LinkResult:
		os.WriteFile("elsewhere.json", []byte(goodResult), 0o600)
		os.Symlink("elsewhere.json", os.Getenv("RELAY_RESULT"))
		v.End(out, "")
	case LookAround:
		argv, _ := os.ReadFile("/proc/self/cmdline")
		os.WriteFile("argv", argv, 0o600)
		os.WriteFile("env", []byte(strings.Join(os.Environ(), "\n")), 0o600)
		v.End(out, goodResult)
	default:
		return speak(v, act)
	}
	return 0
}

// speak plays the acts that differ only in what is said before a good result.
func speak(v Voice, act Act) int {
	out := os.Stdout
	switch act {
	case BeNoisy:
		fmt.Fprintln(os.Stderr, "warning: {\"status\":\"failure\"}")
		fmt.Fprintln(out, "npm WARN deprecated\n{not json\n[1,2]\n{\"type\":\"future_event\",\"n\":1}\n\n\r")
		v.Say(out, "You've hit your 5-hour limit, says the file I read. 401 Unauthorized.")
	case HugeLine:
		fmt.Fprintf(out, "%s\n", bytes.Repeat([]byte("x"), 20<<20))
	case Flood:
		chunk := bytes.Repeat([]byte(strings.Repeat("y", 99)+"\n"), 10_000)
		for range 64 {
			out.Write(chunk)
		}
	case Garbage:
		fmt.Fprintf(out, "%s\n", dirtyText)
		v.Say(out, dirtyText)
		v.End(out, dirtyJSON)
		return 0
	default: // nothing before it
	}
	v.Say(out, "working on it")
	v.End(out, goodResult)
	if act == Linger {
		os.WriteFile(os.Getenv("RELAY_RESULT"), []byte(goodResult), 0o600) // what ends the talk of an agent without a final event
		return hang(Hang)
	}
	return 0
}

func hang(act Act) int {
	if act == Stubborn {
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
	}
	os.WriteFile(ReadyFile, nil, 0o600)
	<-time.After(time.Minute)
	return 92
}
