package runners

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// sessionLog is a file in which a CLI keeps its session, request by request, while its stream tells what was used only at a
// good end. It is read while the CLI works, and never changed.
type sessionLog struct {
	find func() string // its path; "": it is not there yet
	line func([]byte)  // gets each line; must not keep it

	looks int
	tail  *tail
}

// read hands on what is new in the file.
func (l *sessionLog) read() {
	l.looks++
	if l.tail == nil && l.looks&(l.looks-1) == 0 { // more and more rarely: a CLI may keep none
		l.open()
	}
	if l.tail != nil {
		_, _ = l.tail.read() // what cannot be read is estimated
	}
}

func (l *sessionLog) open() {
	if path := l.find(); path != "" {
		l.tail = &tail{path: path, line: l.line}
	}
}

// finish reads the rest of the file, once its CLI is gone.
func (l *sessionLog) finish() {
	l.looks = slowLog
	if l.tail == nil {
		l.open()
	}
	if l.tail != nil {
		_ = l.tail.finish()
		l.tail.close()
	}
}

func (l *sessionLog) found() bool { return l.tail != nil }

// awaited says that the file is there, or may still come: until then nothing is estimated in its place.
func (l *sessionLog) awaited() bool { return l.found() || l.looks < slowLog }

// slowLog is how many looks a CLI may take to begin its file: half a minute of a quiet one.
const slowLog = 64

// variable is the value of the last entry of an environment with this name.
func variable(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// inHome is a path in the home folder of an environment; "": it has none.
func inHome(env []string, path ...string) string {
	home := cmp.Or(variable(env, "HOME"), variable(env, "USERPROFILE"))
	if home == "" {
		return ""
	}
	return filepath.Join(append([]string{home}, path...)...)
}

// CodexHome is the folder in which codex keeps its settings and sessions; "": there is none.
func CodexHome(env []string) string {
	return cmp.Or(variable(env, "CODEX_HOME"), inHome(env, ".codex"))
}

// codexLog finds the file of a session. It lies in a folder of the day on which the session began, which its id tells.
func codexLog(env []string, session string) string {
	home := CodexHome(env)
	id, err := uuid.Parse(session)
	if home == "" || err != nil || id.Version() != 7 {
		return ""
	}
	began := time.Unix(id.Time().UnixTime())
	for _, day := range []int{0, -1, 1} { // its clock may be in another zone than ours
		pattern := filepath.Join(home, "sessions", began.AddDate(0, 0, day).Format("2006/01/02"), "rollout-*-"+session+".jsonl")
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// GeminiHome is the folder in which Gemini CLI keeps its settings and sessions; "": there is none.
func GeminiHome(env []string) string {
	if home := variable(env, "GEMINI_CLI_HOME"); home != "" {
		return filepath.Join(home, ".gemini")
	}
	return inHome(env, ".gemini")
}

// geminiLog finds the file of a session: of several the oldest, which a resumed session goes on in.
func geminiLog(env []string, session string) string {
	home := GeminiHome(env)
	if home == "" || len(session) < 8 {
		return ""
	}
	found, _ := filepath.Glob(filepath.Join(home, "tmp", "*", "chats", "session-*-"+session[:8]+".jsonl"))
	if len(found) == 0 {
		return ""
	}
	return slices.MinFunc(found, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
}
