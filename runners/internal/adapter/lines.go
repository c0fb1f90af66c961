package adapter

import (
	"context"
	"errors"
	"io"

	"relay/runners/process"
)

// maxKeptLine is the longest line of a file of a CLI's own that is read.
const maxKeptLine = 64 << 20

// EachLine calls do with each line of a file that a CLI keeps, but those of more than 64 MiB. A line is valid during its call.
func EachLine(ctx context.Context, path string, do func(line []byte)) (err error) {
	gone := make(chan struct{})
	close(gone)
	lines, err := process.OpenLines(path, process.LinesOptions{Gone: gone, MaxLine: maxKeptLine})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lines.Close()) }()
	for {
		line, err := lines.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if line.Dropped == 0 {
			do(line.Data)
		}
	}
}
