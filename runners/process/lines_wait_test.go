package process

import (
	"context"
	"time"
)

const (
	pollMin = 2 * time.Millisecond
	pollMax = 50 * time.Millisecond
)

// Next returns the next line and waits for it. After Gone it returns what is left, the last line even without an end,
// and then io.EOF. When ctx is cancelled it returns the cause; it can be called again.
func (l *Lines) Next(ctx context.Context) (Line, error) {
	for pause := pollMin; ; pause = min(2*pause, pollMax) {
		line, ended, err := l.Now()
		switch {
		case err != nil:
			return Line{}, err
		case ended:
			return line, nil
		}
		select {
		case <-ctx.Done():
			return Line{}, context.Cause(ctx)
		case <-l.o.Gone:
		case <-time.After(pause):
		}
	}
}
