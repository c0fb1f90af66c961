package labtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/cmd/relay/internal/terminal"
	"relay/reanchor/git"
)

// What an agent does to the repository costs it the attempt, and nobody else anything.
func TestAdversaryRepository(t *testing.T) {
	t.Parallel()
	nothing := fails("agent", "no_change", "nothing has changed") // beside what is put back
	left := fails("agent", "code_error", "left the branch")
	half := fails("agent", "code_error", "half done")
	rewrote := fails("agent", "code_error", "rewrote commits")
	for name, c := range map[string]struct {
		agent string
		verdict
	}{
		"no .git":          {`rm -rf .git; ok`, tampered.saying(".git")},
		"nothing":          {`rm -rf .git .agents-os * .[a-z]*; ok`, tampered},
		"all but .git":     {`rm -rf .agents-os *; ok`, tampered},
		"file for .git":    {`rm -rf .git; echo hello > .git; ok`, tampered.saying(".git")},
		"new .git":         {`rm -rf .git; git init -q; git add -A; git commit -qm "T1: all new"; ok`, tampered.saying(".git")},
		"no objects":       {`rm -rf .git/objects; ok`, tampered.saying(".git")},
		"no refs":          {`rm -rf .git/refs .git/packed-refs; ok`, tampered.saying(".git")},
		"no branch":        {`git update-ref -d refs/heads/main; ok`, tampered.saying(".git")},
		"no HEAD":          {`rm .git/HEAD; ok`, tampered.saying(".git")},
		"bad HEAD":         {`echo nonsense > .git/HEAD; ok`, tampered.saying(".git")},
		"broken index":     {`echo nonsense > .git/index; ok`, tampered.saying(".git")},
		"broken config":    {`echo '[nonsense' > .git/config; ok`, nothing},
		"future format":    {`git config core.repositoryformatversion 1; git config extensions.nonsense true; ok`, nothing},
		"bare":             {`git config core.bare true; ok`, nothing},
		"elsewhere":        {`mkdir "$HOME/else"; echo precious > "$HOME/else/seed.txt"; git config core.worktree "$HOME/else"; ok`, nothing},
		"other branch":     {`git switch -qc other; echo x > work.txt; git add work.txt; git commit -qm "T1: One"; ok`, left},
		"detached":         {`git switch -q --detach; echo x > work.txt; git add work.txt; git commit -qm "T1: One"; ok`, left},
		"renamed branch":   {`echo x > work.txt; git add work.txt; git commit -qm "T1: One"; git branch -m trunk; ok`, left},
		"amended":          {`echo x > work.txt; git add work.txt; git commit -q --amend -m "T1: One"; ok`, rewrote},
		"orphan":           {`git switch -q --orphan lone; echo x > work.txt; git add work.txt; git commit -qm "T1: One"; git branch -M main; ok`, rewrote},
		"reset to nowhere": {`echo x > work.txt; git add -A; t=$(git commit-tree -m alone $(git write-tree)); git reset -q --hard $t; ok`, rewrote},
		"half rebase": {`git switch -qc side; echo a > c.txt; git add .; git commit -qm a; git switch -q main; echo b > c.txt; git add .; git commit -qm b
git rebase side >/dev/null 2>&1; ok`, half},
		"half merge": {`git switch -qc side; echo a > c.txt; git add .; git commit -qm a; git switch -q main; echo b > c.txt; git add .; git commit -qm b
git merge side >/dev/null 2>&1; bad "it does not merge"`, fails("agent", "code_error", "does not merge")},
		"half merge, claimed": {`git switch -qc side; echo a > c.txt; git add .; git commit -qm a; git switch -q main; echo b > c.txt; git add .; git commit -qm b
git merge side >/dev/null 2>&1; ok`, half},
		"stash in conflict": {
			`echo a >> free.txt; git add .; git stash -q; echo b >> free.txt; git add .; git commit -qm b; git stash pop >/dev/null 2>&1; ok`,
			fails("agent", "code_error", "free.txt in conflict"),
		},
		"pruned base":         {`echo x > work.txt; git add .; git commit -q --amend -m "T1: One"; git reflog expire --expire=now --all; git gc -q --force --prune=now; ok`, tampered.saying(".git")},
		"work tree elsewhere": {`git config extensions.worktreeConfig true; git config --worktree core.worktree /; ok`, nothing},
		"odd objects":         {`rm -rf .git/objects/??; echo x > .git/objects/aa; ln -s / .git/objects/bb; mkfifo .git/objects/cc; bad "objects"`, tampered.saying(".git")},
		"name locked":         {`mkdir -p .git/refs/relay/20260101-hostile/T1/1.lock; echo x > x; bad "locked"`, fails("agent", "code_error", "locked")},
		"packed":              {`echo x > work.txt; git add .; git commit -qm "T1: One"; git pack-refs --all --prune; git gc -q --force; ok`, believed},
		"half bisect":         {`git bisect start -q HEAD HEAD >/dev/null 2>&1; ok`, fails("agent", "code_error", "bisect half done")},
		"index.lock":          {`echo x > work.txt; touch .git/index.lock .git/HEAD.lock; touch -d "1 minute ago" .git/config.lock; ok`, believed},
		"ref lock":            {`echo x > work.txt; touch .git/refs/heads/main.lock; ok`, believed},
		"packed lock":         {`echo x > work.txt; touch -d "1 minute ago" .git/packed-refs.lock; ok`, believed},
		"lock folder":         {`echo x > work.txt; mkdir -p .git/index.lock/deep; ok`, believed},
		"worktree":            {`echo x > work.txt; git worktree add -q "$HOME/wt" -b wt; ok`, believed},
		"unreadable files":    {`echo x > a; echo x > b; chmod 0 a b seed.txt; ok`, believed},
		"pipe for a file":     {`rm seed.txt; mkfifo seed.txt; echo x > work.txt; ok`, tampered.saying("seed.txt")},
		"odd names":           {`echo x > "-rf"; echo x > "--upload-pack=x"; echo x > ":(top)x"; echo x > "$(printf 'a\nb')"; echo x > "$(printf '\377\376')"; echo x > '$(touch pwned)'; ok`, believed},
		"deep folder":         {`d=.; for i in $(seq 60); do d=$d/$(printf 'd%.0s' $(seq 50)); done; mkdir -p "$d" && echo x > "$d/x"; ok`, believed},
		"link out":            {`ln -s / root; ln -s ../.. up; ok`, believed},
		"pipe":                {`mkfifo pipe; echo x > work.txt; ok`, believed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onlyFirst(t, name, "no .git", "nothing", "new .git", "no branch", "broken index", "elsewhere", "other branch", "detached",
				"amended", "half rebase", "half merge, claimed", "pruned base", "name locked", "index.lock", "odd names",
				"pipe")
			l := newLab(t, hostilePlan, honest+c.agent+"\n")
			judged(t, l, c.verdict)
			l.next()
			l.git("fsck", "--no-dangling", "--connectivity-only")
			if name == "elsewhere" && l.read(l.inHome("else/seed.txt")) != "precious\n" {
				t.Error("files outside the repository were changed")
			}
			if git.Exists(l.path("pwned")) {
				t.Error("a file name was executed")
			}
		})
	}
}

// What an agent hides from git is either in its commit or not in the checkout: checks must not pass on what does not land.
func TestAdversaryHiddenChange(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--skip-worktree", "--assume-unchanged"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, strings.Replace(hostilePlan, "T2: {title: Two}", "T2: {title: Two, checks: [\"! grep -q cheat work.txt || git show HEAD~1:work.txt | grep -q cheat\"]}", 1),
				honest+`echo x > work.txt; git add .; git commit -qm "T1: One"; git update-index `+flag+` work.txt; echo cheat > work.txt; ok`)
			l.work(terminal.OK)
			if disk, landed := l.read("work.txt"), l.git("show", "main:work.txt")+"\n"; disk != landed {
				t.Errorf("work.txt is %q in the checkout and %q on the branch", disk, landed)
			}
			l.clean()
		})
	}
}

// next wants that a night after this one can begin: nothing that an agent did is still in the way.
func (l *lab) next() {
	l.t.Helper()
	before := len(l.starts())
	l.work(l.ledger().Status.Code)
	if len(l.starts()) != before {
		l.t.Errorf("another run tried again what is done or gated: %v", l.starts())
	}
}

// What an agent does to relay's own files is undone from memory, and named.
func TestAdversaryLedger(t *testing.T) {
	t.Parallel()
	for name, agent := range map[string]string{
		"ledger":        `echo 'tasks: {}' > "$RELAY_DIR/attempt-ledger.yml"`,
		"finished":      `sed -i 's/: pending/: completed/; s/: in_progress/: completed/' "$RELAY_DIR/attempt-ledger.yml"`,
		"no ledger":     `rm "$RELAY_DIR/attempt-ledger.yml"`,
		"linked ledger": `mv "$RELAY_DIR/attempt-ledger.yml" "$HOME/l.yml"; ln -s "$HOME/l.yml" "$RELAY_DIR/attempt-ledger.yml"`,
		"log":           `for f in "$RELAY_DIR"/runs/*/events.jsonl; do echo '{"crc":"00000000","seq":99,"type":"attempt_ended"}' >> "$f"; done`,
		"empty log":     `for f in "$RELAY_DIR"/runs/*/events.jsonl; do : > "$f"; done`,
		"no log":        `rm -f "$RELAY_DIR"/runs/*/events.jsonl`,
		"log folder":    `for f in "$RELAY_DIR"/runs/*/events.jsonl; do rm "$f"; mkdir -p "$f/x"; done`,
		"lock":          `echo '{"pid":1,"host":"elsewhere"}' > "$RELAY_DIR/lock"`,
		"no lock":       `rm "$RELAY_DIR/lock"`,
		"no runs":       `rm -rf "$RELAY_DIR/runs"`,
		"no plan":       `rm "$RELAY_DIR/epic.yml"`,
		"no .gitignore": `rm "$RELAY_DIR/.gitignore"`,
		"no folder":     `rm -rf "$RELAY_DIR"`,
		"linked folder": `mv "$RELAY_DIR" "$HOME/moved"; ln -s "$HOME/moved" "$RELAY_DIR"`,
		"swapped":       `mv "$RELAY_DIR" "$HOME/moved"; cp -r "$HOME/moved" "$RELAY_DIR"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onlyFirst(t, name, "finished", "log", "no log", "no lock", "no folder", "linked folder")
			l := newLab(t, hostilePlan, honest+"echo x > work.txt; ok\n"+agent+"\nexit 0\n")
			r := judged(t, l, tampered.saying("relay's own files"))
			l.looks()
			l.run("ledger", "validate").wants(t, terminal.OK)
			r.says(t, "put it back")
			if info, err := os.Lstat(l.path(".agents-os/relay")); err != nil || !info.IsDir() {
				t.Errorf("relay's folder is %v, %v", info, err)
			}
			if _, err := os.Stat(l.path(".agents-os/relay/.gitignore")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A plan that is rewritten during the run changes neither the run nor what a person is told.
func TestAdversaryPlan(t *testing.T) {
	t.Parallel()
	l := newLab(t, hostilePlan, honest+`
sed -i 's/max_attempts: 1/max_attempts: 50/; s/protected:.*//; s/  T2:.*/  T3: {title: Mine}/' "$RELAY_DIR/epic.yml"
echo weak > seed.txt
ok
`)
	r := l.work(terminal.Gated)
	r.says(t, "epic.yml")
	f := l.ledger()
	if f.Gated["T1"].Reason != "tampered" || f.TaskStatus["T2"] != "completed" {
		t.Errorf("the ledger says %+v", f)
	}
	l.quiet()
}

// What an agent plants in the repository's configuration is put back. Where the user has it so, it is not run by relay's
// own git: not during a run, nor by any command that only looks.
func TestAdversaryTraps(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, hostilePlan, honest+`
trap=$HOME/trap
hook='#!/bin/sh
touch "'$HOME'/trap.hook.$(basename "$0")"
exit 1'
for dir in .git/hooks "$HOME/hooks"; do
  mkdir -p $dir
  for h in applypatch-msg pre-applypatch post-applypatch pre-commit prepare-commit-msg commit-msg post-commit pre-rebase post-checkout \
    post-merge pre-merge-commit pre-auto-gc post-rewrite reference-transaction post-index-change fsmonitor-watchman \
    sendemail-validate push-to-checkout; do
    printf '%s\n' "$hook" > $dir/$h; chmod +x $dir/$h
  done
done
bomb() { git config "$1" "touch $trap.$1; false"; }
bomb core.fsmonitor; bomb core.editor; bomb core.pager; bomb sequence.editor; bomb core.sshCommand; bomb core.askPass; bomb diff.external
bomb diff.bomb.textconv; bomb diff.bomb.command; bomb merge.bomb.driver; bomb credential.helper; bomb gpg.program; bomb gpg.ssh.program
bomb gpg.ssh.defaultKeyCommand; bomb interactive.diffFilter; bomb pager.log; bomb pager.diff; bomb trailer.relay.command
bomb uploadpack.packObjectsHook
for a in add commit diff log status reset rev-parse update-ref ls-files symbolic-ref merge-base; do git config alias.$a "!touch $trap.alias.$a; false"; done
git config commit.gpgSign true; git config tag.gpgSign true; git config log.showSignature true; git config core.hooksPath "$HOME/hooks"
git config commit.template /nonexistent; git config core.commentChar x; git config core.autocrlf false
git config status.showUntrackedFiles no
printf '* diff=bomb merge=bomb\n' > .gitattributes
echo changed >> other.txt
rm -f $trap.*
cp .git/config "$HOME/planted"
if [ "$n" = 1 ]; then bad planted; else ok; fi
`)
	judged(t, l, fails("agent", "code_error", "planted")).says(t, ".git/config, which configures git, was changed during the attempt; relay put it back")
	l.write(".git/config", l.read(l.inHome("planted")))
	for _, args := range [][]string{{"ungate", "T1"}, {"work"}, {"check"}, {"status"}, {"show", "T1", "--diff"}, {"show", "T1"}, {"graph"}, {"work"}} {
		l.run(args...)
	}
	if got := l.last("T1").Outcome; got != "success" {
		t.Errorf("with all of it from the start T1 is a %s", got)
	}
	sprung, err := filepath.Glob(l.inHome("trap*"))
	if err != nil || len(sprung) > 0 {
		t.Errorf("relay's git ran %v, %v", sprung, err)
	}
}

// Names come from people and agents; none of them is a command.
func TestAdversaryNames(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, `version: 2
id: 20260101-names
title: "$(touch pwned); touch pwned `+"`touch pwned`"+`"
description: "--upload-pack=touch pwned"
source: "; touch pwned"
tasks:
  T1: {title: "$(touch pwned)", description: "'; touch pwned; '", files: ["$(touch pwned)", "; touch pwned"], acceptance_criteria: ["| touch pwned"]}
  T2: {title: "--force; touch pwned", depends_on: [T1], checks: [{name: "$(touch pwned)", run: "true"}]}
  T3: {title: "-C /", depends_on: [T2], max_attempts: 2}
`, `
if [ "$RELAY_TASK" = T3 ] && [ "$n" = 1 ]; then echo x > x; bad '$(touch pwned); touch pwned'; exit 0; fi
echo x > "$RELAY_TASK.txt"
printf '{"status":"success","summary":"$(touch pwned)","files_changed":["; touch pwned","$(touch pwned)"],"learning":"`+"`touch pwned`"+`"}' > "$RELAY_RESULT"
`)
	l.git("switch", "-q", "-c", "a$(touch${IFS}pwned);b")
	l.work(terminal.OK)
	if got, want := l.git("log", "--reverse", "--format=%s"), "Begin\nT1: $(touch pwned)\nT2: --force; touch pwned\nT3: -C /"; got != want {
		t.Errorf("commits are\n%s\nwant\n%s", got, want)
	}
	for _, args := range [][]string{{"status", "--verbose"}, {"show", "T1"}, {"show", "T3", "--diff", "--attempt", "1"}, {"graph", "--format", "dot"}} {
		l.run(args...).wants(t, terminal.OK)
	}
	for _, dir := range []string{l.root, l.home, l.path(".agents-os/relay"), l.path(".git")} {
		if git.Exists(filepath.Join(dir, "pwned")) {
			t.Errorf("a name was executed in %s", dir)
		}
	}
	if got := l.git("status", "--porcelain"); got != "" {
		t.Errorf("the checkout is not clean: %s", got)
	}
	for _, args := range [][]string{{"show", "$(touch pwned)"}, {"gate", "--", "-x"}, {"work", "; touch pwned"}, {"show", "../../x"}} {
		r := l.run(args...)
		r.wants(t, terminal.Usage)
		if !strings.Contains(r.stderr.String(), "no task") {
			t.Errorf("relay %q says %s", args, r.stderr.String())
		}
	}
}
