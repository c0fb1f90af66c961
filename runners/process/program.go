package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// program finds the file to execute. A name without a slash is looked up in the PATH of the command's own
// environment, where relative folders do not count: they would be the agent's to fill.
func (cmd Command) program() (string, error) {
	if len(cmd.Argv) == 0 || cmd.Argv[0] == "" {
		return "", fmt.Errorf("empty argument list: %w", exec.ErrNotFound)
	}
	name := cmd.Argv[0]
	if strings.Contains(name, "/") {
		return cmd.executable(name)
	}
	var found error
	for _, dir := range filepath.SplitList(cmd.variable("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path, err := cmd.executable(filepath.Join(dir, name))
		if err == nil {
			return path, nil
		}
		if found == nil && errors.Is(err, fs.ErrPermission) {
			found = err
		}
	}
	if found != nil {
		return "", found
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// executable returns path if it can be executed.
func (cmd Command) executable(path string) (string, error) {
	place := path
	if !filepath.IsAbs(place) {
		place = filepath.Join(cmd.Dir, place) // the child is there already when it looks
	}
	info, err := os.Stat(place)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return "", &fs.PathError{Op: "exec", Path: place, Err: fmt.Errorf("is a directory: %w", fs.ErrPermission)}
	case info.Mode()&0o111 == 0:
		return "", &fs.PathError{Op: "exec", Path: place, Err: fmt.Errorf("not executable: %w", fs.ErrPermission)}
	}
	return path, nil
}

// variable returns the last value of name in Env.
func (cmd Command) variable(name string) string {
	value := ""
	for _, v := range cmd.Env {
		if val, ok := strings.CutPrefix(v, name+"="); ok {
			value = val
		}
	}
	return value
}

// explain returns a clearer error for a program that could not be started: it tells a missing folder from a missing
// interpreter.
func (cmd Command) explain(path string, err error) error {
	if cmd.Dir != "" {
		if info, statErr := os.Stat(cmd.Dir); statErr != nil {
			return fmt.Errorf("working directory: %w", statErr)
		} else if !info.IsDir() {
			return fmt.Errorf("working directory: %w", &fs.PathError{Op: "chdir", Path: cmd.Dir, Err: fs.ErrInvalid})
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the interpreter that the first line of %s names is missing: %w", path, err)
	}
	return err
}

func (cmd Command) name() string {
	if len(cmd.Argv) == 0 {
		return "a command without arguments"
	}
	return cmd.Argv[0]
}

// environ returns the environment of the process: Env with the mark.
func (cmd Command) environ() []string {
	env := slices.DeleteFunc(slices.Clone(cmd.Wall.Environ(cmd.Env)), func(v string) bool { return strings.HasPrefix(v, markVariable+"=") })
	if cmd.Mark != "" {
		env = append(env, markVariable+"="+cmd.Mark)
	}
	return env
}

// open opens the three standard files; Stdout and Stderr may be one.
func (cmd Command) open() ([]*os.File, error) {
	in := cmd.Stdin
	if in == "" {
		in = os.DevNull
	}
	stdin, err := openFile(in, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	stdout, err := openOutput(cmd.Stdout)
	if err != nil {
		closeAll([]*os.File{stdin})
		return nil, err
	}
	if cmd.Stderr == cmd.Stdout {
		return []*os.File{stdin, stdout, stdout}, nil
	}
	stderr, err := openOutput(cmd.Stderr)
	if err != nil {
		closeAll([]*os.File{stdin, stdout})
		return nil, err
	}
	return []*os.File{stdin, stdout, stderr}, nil
}

// stopSignal returns the polite signal of the command.
func (cmd Command) stopSignal() syscall.Signal {
	if strings.TrimPrefix(cmd.StopSignal, "SIG") == "INT" {
		return syscall.SIGINT
	}
	return syscall.SIGTERM
}
