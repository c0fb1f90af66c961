package adapter

// SessionLog is a file in which a CLI keeps its session, request by request, while its stream tells what was used only at a
// good end. It is read while the CLI works, and never changed.
type SessionLog struct {
	Find func() string // its path; "": it is not there yet; nil: there is none
	Line func([]byte)  // gets each line; must not keep it

	polls int
	tail  *Tail
}

// read hands on what is new in the file.
func (l *SessionLog) read() {
	if l.Find == nil {
		return
	}
	l.polls++
	if l.tail == nil && l.polls&(l.polls-1) == 0 { // more and more rarely: a CLI may keep none
		l.open()
	}
	if l.tail != nil {
		_, _ = l.tail.Read() // what cannot be read is estimated
	}
}

func (l *SessionLog) open() {
	if path := l.Find(); path != "" {
		l.tail = &Tail{Path: path, Line: l.Line}
	}
}

// finish reads the rest of the file, once its CLI is gone.
func (l *SessionLog) finish() {
	l.polls = slowLog
	if l.tail == nil && l.Find != nil {
		l.open()
	}
	if l.tail != nil {
		_ = l.tail.Finish()
		l.tail.Close()
	}
}

// Found reports whether the file is there.
func (l *SessionLog) Found() bool { return l.tail != nil }

// Expected reports whether the file is there, or may still come: until then nothing is estimated in its place.
func (l *SessionLog) Expected() bool { return l.Found() || l.polls < slowLog }

// slowLog is how many polls a CLI may take to begin its file: half a minute of a quiet one.
const slowLog = 64
