package integration

import (
	"os/exec"
	"strings"
	"testing"

	"relay/epic/slowtest"
	"relay/reanchor/git/repotest"
)

// signs gives the repository a key that signs without a person, and who may have signed.
func (l *lab) signs() {
	l.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		l.Skip("there is no ssh-keygen to sign with")
	}
	l.Sh(`ssh-keygen -q -t ed25519 -N '' -C ada -f ../key && echo "ada $(cat ../key.pub)" > ../signers &&
		git config gpg.format ssh && git config user.signingkey "$PWD/../key.pub" && git config gpg.ssh.allowedSignersFile "$PWD/../signers"`)
}

// Whatever relay makes of work is signed: a commit that stands on the tip, one put there, a squash, and merge commits.
func TestWhatLandsIsSigned(t *testing.T) {
	t.Parallel()
	const one, two = `git checkout -q -b task; export GIT_AUTHOR_NAME='Ünï' GIT_AUTHOR_DATE='1234567890 -0730'; add a 1`, `; add b 1`
	const moved = `; git checkout -q trunk; add t2 x`
	for name, given := range map[string]string{"on the tip": one, "moved": one + moved, "several": one + two, "several, moved": one + two + moved} {
		for _, mode := range []Mode{Merge, Rebase, Squash} {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				slowtest.OneIn(t, 4)
				t.Parallel()
				l := newLand(t)
				l.signs()
				l.Sh(sides + given + `; git checkout -q trunk`)
				branch := NewBranch(l.Open(), "lab", mode)
				branch.Signer.On = true
				made := repotest.Want[Integrated](t)(branch.Integrate(t.Context(), l.Git("rev-parse", "trunk"), l.Git("rev-parse", "task"), MergeInput{Message: "Land\n", Squash: "Squashed\n"}))
				if why := branch.Signer.Unsigned(); why != "" {
					t.Fatal(why)
				}
				verified := 0
				for commit := range strings.FieldsSeq(l.Git("rev-list", "trunk.."+made.Commit, "^task")) {
					l.Git("verify-commit", commit)
					verified++
				}
				if verified == 0 {
					t.Error("nothing was made")
				}
				if got := l.Git("log", "-1", "--date=raw", "--format=%p, %an %ad", made.Commit); len(strings.Fields(strings.Split(got, ",")[0])) == 1 && !strings.HasSuffix(got, ", Ünï 1234567890 -0730") {
					t.Errorf("the author is %s", got)
				}
				l.Git("fsck", "--strict", "--no-dangling", made.Commit)
				if err := TrySignature(t.Context(), l.Open()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A signature that fails is told, and nothing waits for it: the same commit is made without.
func TestWhatCannotBeSignedLands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, want string }{
		"no key":       {`git config gpg.format ssh; git config user.signingkey "$PWD/../none.pub"`, "Couldn't load public key"},
		"a passphrase": {`ssh-keygen -q -t ed25519 -N secret -f ../locked; git config gpg.format ssh; git config user.signingkey "$PWD/../locked"`, "incorrect passphrase supplied to decrypt private key"},
		"no program":   {`git config gpg.format openpgp; git config gpg.program "$PWD/../none"; git config user.signingkey ada`, "cannot run"},
		"it says no":   {`printf '#!/bin/sh\necho no such card >&2; exit 2\n' > ../no; chmod +x ../no; git config gpg.format openpgp; git config gpg.program "$PWD/../no"; git config user.signingkey ada`, "gpg failed to sign the data"},
	} {
		for _, mode := range []Mode{Merge, Squash} {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				slowtest.OneIn(t, 3)
				t.Parallel()
				l := newLand(t)
				l.signs()
				l.Sh(c.given + "; " + sides + `git checkout -q -b task; add a 1; add b 1; git checkout -q trunk; add t2 x`)
				branch := NewBranch(l.Open(), "lab", mode)
				branch.Signer.On = true
				made := repotest.Want[Integrated](t)(branch.Integrate(t.Context(), l.Git("rev-parse", "trunk"), l.Git("rev-parse", "task"), MergeInput{Message: "Land\n", Squash: "Land\n"}))
				if got := l.Git("diff", "--name-only", "trunk", made.Commit); got != "a\nb" {
					t.Errorf("landed %q", got)
				}
				if why := branch.Signer.Unsigned(); !strings.Contains(why, c.want) || branch.Signer.Unsigned() != "" {
					t.Errorf("told %q, want %q once", why, c.want)
				}
				if err := TrySignature(t.Context(), l.Open()); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("before the night: %v", err)
				}
			})
		}
	}
}

// A key that waits for a person is waited for once.
func TestSignatureThatWaits(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("takes as long as a signature may")
	}
	l := newLand(t)
	l.Sh(`printf '#!/bin/sh\necho asked >> "$0.log"; exec sleep 60\n' > ../waits; chmod +x ../waits; git config gpg.program "$PWD/../waits"; git config user.signingkey ada
		` + sides + `git checkout -q -b task; add a 1; git checkout -q -b task2 base; add b 1; git checkout -q trunk; add t2 x`)
	branch := NewBranch(l.Open(), "lab", Squash)
	branch.Signer.On = true
	tip := l.Git("rev-parse", "trunk")
	for _, task := range []string{"task", "task2"} {
		tip = repotest.Want[Integrated](t)(branch.Integrate(t.Context(), tip, l.Git("rev-parse", task), MergeInput{Squash: "Squashed\n"})).Commit
		if why := branch.Signer.Unsigned(); why != "git did not sign within 10s: the key seems to wait for a person, for a passphrase or a touch" {
			t.Errorf("told %q", why)
		}
	}
	if got := l.Git("diff", "--name-only", "trunk", tip); got != "a\nb" {
		t.Errorf("landed %q", got)
	}
	if got := l.Sh(`cat ../waits.log`); strings.TrimSpace(got) != "asked" {
		t.Errorf("the key was asked: %q", got)
	}
}
