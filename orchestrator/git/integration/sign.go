package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// signWall is how long git may take for a signature. A key that waits for a person takes longer.
const signWall = 10 * time.Second

// signer signs what is put onto a branch, and remembers what it could not.
type signer struct {
	On      bool   // commits that are made are signed, as the user's git is set up; one that cannot be signed is made all the same
	waits   bool   // a signature took too long, and none is tried any more
	failure string // the last, in words
}

// sign makes a commit with a signature. It returns "" for one that is to be made without.
func (s *signer) sign(ctx context.Context, repo *git.Repo, c commitObject) (string, error) {
	if s.waits {
		s.failure = (&waitError{}).Error()
		return "", nil
	}
	args := []string{"-c", "i18n.commitEncoding=UTF-8", "commit-tree", "-S", c.Tree()}
	for _, p := range c.Parents() {
		args = append(args, "-p", p)
	}
	name, err := runSigning(ctx, repo, signing(args, c.message, append(person("AUTHOR", c), person("COMMITTER", c)...)...))
	if err == nil || ctx.Err() != nil {
		return name, err
	}
	s.failure, s.waits = err.Error(), errors.As(err, new(*waitError))
	return "", nil
}

// TrySignature fails when git cannot sign a commit here by itself. Nothing of it stays in the repository.
func TrySignature(ctx context.Context, repo *git.Repo) (err error) {
	dir, err := os.MkdirTemp("", "relay-sign-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	apart := "GIT_OBJECT_DIRECTORY=" + dir
	call := git.Writing("mktree")
	call.Env = append(call.Env, apart)
	tree, err := repo.Run(ctx, call)
	if err != nil {
		return err
	}
	args := append(git.Identity(ctx, repo), "commit-tree", "-S", strings.TrimSpace(string(tree)))
	_, err = runSigning(ctx, repo, signing(args, "Trial\n", apart))
	return err
}

// Unsigned returns why commits made since the last call have no signature that they should have; "" : they have.
func (s *signer) Unsigned() string {
	why := s.failure
	s.failure = ""
	return why
}

// signing returns a call of git that signs and cannot ask anything.
func signing(args []string, message string, env ...string) git.Call {
	call := git.Writing(args...)
	call.Stdin = strings.NewReader(message)
	call.Hooks = true // a session without a terminal; making a commit object runs no hook
	call.Own = true   // the program that signs finds its keys by GNUPGHOME, SSH_AUTH_SOCK and the like; no filter runs
	call.Env = append(append(call.Env, "LC_ALL=C", "GPG_TTY=", "DISPLAY=", "WAYLAND_DISPLAY="), env...)
	return call
}

// runSigning runs it, with a limit of time. Its error is in the words of the program that signs.
func runSigning(ctx context.Context, repo *git.Repo, call git.Call) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, signWall, &waitError{})
	defer cancel()
	out, err := repo.Run(ctx, call)
	if wait, ok := errors.AsType[*waitError](err); ok {
		return "", wait
	}
	return strings.TrimSuffix(string(out), "\n"), inWords(err)
}

// person returns the variables that say who is the author or the committer, and when.
func person(role string, c commitObject) []string {
	who := strings.Join(c.values(strings.ToLower(role)), "")
	name, rest, _ := strings.Cut(who, " <")
	mail, date, _ := strings.Cut(rest, "> ")
	return []string{"GIT_" + role + "_NAME=" + name, "GIT_" + role + "_EMAIL=" + mail, "GIT_" + role + "_DATE=@" + date}
}

// waitError means that a signature took too long.
type waitError struct{}

// Error says what is the matter most often.
func (*waitError) Error() string {
	return fmt.Sprintf("git did not sign within %v: the key seems to wait for a person, for a passphrase or a touch", signWall)
}

// inWords returns the error of a signature with the words of the program that signs.
func inWords(err error) error {
	var gitErr *git.Error
	if !errors.As(err, &gitErr) {
		return err
	}
	var said []string
	for line := range strings.Lines(gitErr.Stderr) {
		line = plaintext.Fit(line, 200)
		if line != "" && !strings.HasPrefix(line, "[GNUPG:]") && !strings.HasPrefix(line, "fatal: failed to write commit object") {
			said = append(said, line)
		}
	}
	if len(said) == 0 {
		return err
	}
	return errors.New(strings.Join(said[:min(3, len(said))], "; "))
}
