package relayfiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"relay/runners"

	"github.com/klauspost/compress/zstd"
)

// Transcript is the name of every transcript, in the folder of its attempt, fix round or review.
const Transcript = "transcript.jsonl"

// Compressed is what the name of a compressed transcript ends with, in addition.
const Compressed = ".zst"

// worthwhile is the size in bytes from which a transcript is compressed: a smaller one frees next to nothing.
const worthwhile = 64 << 10

// Memory, in bytes: a window of what is written, and the largest that is read.
const (
	window        = 1 << 20
	largestWindow = 8 << 20
)

// OpenTranscript opens a transcript for reading, by the path at which the agent's output went, compressed or not. A compressed one that was
// damaged fails as it is read. The error wraps fs.ErrNotExist when there is none.
func OpenTranscript(path string) (io.ReadCloser, error) {
	f, err := runners.OpenRegular(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	packed, failed := runners.OpenRegular(path + Compressed)
	if errors.Is(failed, fs.ErrNotExist) {
		return nil, err
	}
	if failed != nil {
		return nil, failed
	}
	d, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(largestWindow))
	if err != nil {
		return nil, errors.Join(err, packed.Close())
	}
	return &decompressed{Decoder: d, file: packed}, nil
}

type decompressed struct {
	*zstd.Decoder

	file *os.File
}

func (d *decompressed) Read(p []byte) (int, error) {
	n, err := d.Decoder.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: %w", d.file.Name(), err)
	}
	return n, err
}

func (d *decompressed) Close() error {
	d.Decoder.Close()
	return d.file.Close()
}

// CompressTranscripts compresses the transcripts below a folder that are large enough for that, until ctx ends. It leaves those of which
// skip reports true, given the path of the folder they are in. It leaves files unchanged that it cannot compress.
func CompressTranscripts(ctx context.Context, dir string, skip func(folder string) bool) (freed int64) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return fs.SkipAll
		case err != nil:
			return nil //nolint:nilerr // somebody has removed it, or an agent has locked it: the others are compressed
		case d.IsDir() && skip(path):
			return fs.SkipDir
		case d.Name() != Transcript || !d.Type().IsRegular():
			return nil
		}
		if info, err := d.Info(); err == nil && info.Size() >= worthwhile {
			freed += compress(ctx, path)
		}
		return nil
	})
	return freed
}

// compress puts a compressed copy in the place of a file, and returns how many bytes that has freed. Killed at any point, it leaves one of
// the two whole, and Open prefers the original.
func compress(ctx context.Context, path string) (freed int64) {
	from, err := runners.OpenRegular(path)
	if err != nil {
		return 0
	}
	defer from.Close()
	before, err := from.Stat()
	if err != nil {
		return 0
	}
	part := path + Compressed + ".part"
	defer func() { _ = os.Remove(part) }()
	size, err := writeCompressed(ctx, part, from)
	if err != nil || size >= before.Size() || os.Chtimes(part, before.ModTime(), before.ModTime()) != nil {
		return 0
	}
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(before, now) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) {
		return 0 // something still writes to it
	}
	if os.Rename(part, path+Compressed) != nil || os.Remove(path) != nil {
		return 0
	}
	return before.Size() - size
}

// writeCompressed makes a compressed file of what from has, and returns its size once it is on the disk.
func writeCompressed(ctx context.Context, path string, from io.Reader) (int64, error) {
	_ = os.Remove(path) // else it may be a link to somewhere
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer to.Close()
	packed, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(packed, &interruptible{ctx, from})
	if err = errors.Join(err, packed.Close()); err != nil {
		return 0, err
	}
	info, err := to.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), to.Sync()
}

// interruptible reads until a context ends.
type interruptible struct {
	ctx  context.Context //nolint:containedctx // of one call
	from io.Reader
}

func (r *interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
