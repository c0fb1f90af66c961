package runners

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
