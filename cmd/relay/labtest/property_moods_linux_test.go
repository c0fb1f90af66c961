package labtest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"relay/cmd/relay/internal/project"
)

// landingAgent does what its task is called after: a kind of work, and a mood to do it in. It first writes a token that
// must never be lost.
const landingAgent = `t=$RELAY_TASK
kind=$(cat "$HOME/kinds/$t")
token() { echo "$t $n" > "$1" && printf '%s\0' "$1" >> "$HOME/tokens"; }
save() { git add -A; git commit -qm "$1"; }
first() { [ "$n" -lt 2 ]; }
case $kind in
idle*) ok; exit 0;;
esac
mkdir -p tok own uses defs
landed=$(ls own | head -n 1)
token "tok/$t-$n"
case $kind in
*flaky*) if [ "$n" -lt 3 ]; then echo junk > junk.txt; save half; echo more >> seed.txt; bad "not yet"; exit 0; fi;;
*crash*) if first; then kill -9 $$; fi;;
*broken*) bad "never $n$n$n"; exit 0;;
*halfway*) if first; then
  save one; echo two > two; save two; GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -q -i HEAD~2; ok; exit 0
  fi;;
*hides*) echo hidden >> seed.txt; git update-index --assume-unchanged seed.txt;;
*liar*) ok; exit 0;;

*resets*) if first; then save lost && git reset -q --hard HEAD~1; ok; exit 0; fi;;
*amends*) if first; then save full && git rm -rq tok && git commit -q --amend --allow-empty -m less; bad less; exit 0; fi
	save start; echo more > "more-$t"; git add -A; git commit -q --amend -m "$t: more";;
*detaches*) if first; then git switch -q --detach; save aside; ok; exit 0; fi;;
*returns*) if first; then git switch -q --detach; save aside; git switch -q -; echo back > back; ok; exit 0; fi;;
*leaves*) git switch -qc "side-$t-$n"; save aside; if first; then ok; exit 0; fi; git switch -q -; git merge -q --ff-only "side-$t-$n";;

*nests*) if first; then git init -q sub; token "sub/$t-$n"; git -C sub add -A; git -C sub commit -qm sub; fi;;
*adopts*) if first; then git init -q sub; token "sub/$t-$n"; git -C sub add -A; git -C sub commit -qm sub; git add sub 2>&1; fi;;
*names*) token "tok/-$t-$n"; token "$(printf 'tok/%s-%s\nline' "$t" "$n")"; token "$(printf 'tok/%s-%s\377\376' "$t" "$n")"
	token "tok/$t-$n-$(printf '%0200d' 0)"; mkdir "tok/shut-$t-$n"; token "tok/shut-$t-$n/x"; chmod 555 "tok/shut-$t-$n"
	mkfifo "tok/pipe-$t-$n"; ln -s "round-$t" "tok/round-$t-$n"; ln -s "round-$t-$n" "tok/round-$t"; git add -A; git reset -q;;

*moves*) save work; git branch -f feature HEAD; git tag -f v1 HEAD; echo "$t" >> "$HOME/moved";;
*lands*) save work; git update-ref refs/heads/relay/20260101-lab HEAD; if first; then ok; exit 0; fi;;
*deletes*) git update-ref -d refs/heads/doomed; git tag -d v2;;
*stashes*) if first; then git add -A; git stash -q; ok; exit 0; fi;;
*pops*) git stash pop -q;;
*removes*) if [ -n "$landed" ] && git rm -q "own/$landed"; then echo "$landed" >> "$HOME/removed"; fi;;
*merges*) for b in $(git for-each-ref --format='%(refname:short)' refs/heads/relay-tasks); do
	if [ "$b" != "relay-tasks/20260101-lab/$t" ]; then git merge -q --no-edit "$b" || git merge --abort; break; fi; done;;
*clears*) git gc -q --prune=now; git worktree prune;;
*repacks*) git repack -adq; git pack-refs --all; git maintenance run --quiet --task=gc;;
esac >> "$HOME/said" 2>&1
echo "$t" > "own/$t"
case $kind in
*line*) echo "$t" > line.txt;;
*use*) ls defs | head -n 1 > "uses/$t";;
*rename*) d=$(ls defs | head -n 1); git mv "defs/$d" "defs/$t"; for u in uses/*; do test -e "$u" || continue; if [ "$(cat "$u")" = "$d" ]; then echo "$t" > "$u"; fi; done;;
esac
case $kind in
*commits*) git add own; git commit -qm "$t: one"; save "$t: two";;
*commit*) save "$t: work";;
esac
ok "$t did $kind"
`

// moods are those in which landingAgent works. The first ones are more usual than the others.
var moods = []string{
	"", "", "", "", "flaky", "crash", "broken", "liar", "halfway", "hides",
	"resets", "amends", "detaches", "returns", "leaves", "nests", "adopts", "names",
	"moves", "lands", "deletes", "stashes", "pops", "removes", "merges", "clears", "repacks",
}

// landingLab is a repository in which somebody has work of their own lying about, and a random epic.
func landingLab(t *testing.T, dice *rand.Rand) (*lab, map[string]string) {
	t.Helper()
	var plan strings.Builder
	slow := dice.IntN(2) == 0 // then what waits lands together
	checks := fmt.Sprintf("%q", whole)
	if slow {
		checks += ", sleep 0.3"
	}
	fmt.Fprintf(&plan, "version: 2\nid: 20260101-lab\ntitle: lab\nchecks: [%s]\ntasks:\n", checks)
	kinds := []string{"plain", "line", "use", "rename", "line", "use"}
	made := make(map[string]string)
	stashing := "" // a git stash pop beside a git stash can drop what it has not popped: so git is, and only one is in a night
	for i := range 3 + dice.IntN(5) {
		id := fmt.Sprintf("T%d", i+1)
		if dice.IntN(8) == 0 {
			made[id] = "idle"
			fmt.Fprintf(&plan, "  %s: {title: idle, allow_no_change: true}\n", id)
			continue
		}
		kind, mood := kinds[dice.IntN(len(kinds))], moods[dice.IntN(len(moods))]
		if mood == "stashes" || mood == "pops" {
			stashing = cmp.Or(stashing, mood)
			mood = stashing
		}
		made[id] = kind + " " + mood + " " + []string{"", "commit", "commits"}[dice.IntN(3)]
		fmt.Fprintf(&plan, "  %s:\n    title: %s\n    max_attempts: 3\n    checks: ['test -e own/%s']\n", id, made[id], id)
		if i > 0 && dice.IntN(3) == 0 {
			fmt.Fprintf(&plan, "    depends_on: [T%d]\n", 1+dice.IntN(i))
		}
		if dice.IntN(4) == 0 {
			fmt.Fprintf(&plan, "    files: [own/*, uses/%s]\n", id)
		}
	}
	l := newLabAt(t, filepath.Join(inMemory(t), "work"), plan.String(), landingAgent)
	if jobs := 1 + dice.IntN(4); slow {
		l.landing(max(3, jobs))
		l.env = append(l.env, project.SlowChecksVariable+"=100ms")
	} else {
		l.landing(jobs)
	}
	l.env = append(l.env, "RELAY_MAX_FAILED_IN_A_ROW=0", "RELAY_MAX_SAME_ERROR=0", "RELAY_LANDING="+[]string{"merge", "rebase", "squash"}[dice.IntN(3)])
	for id, kind := range made {
		l.write(l.inHome("kinds/"+id), kind)
	}
	l.write("defs/first", "")
	l.write("line.txt", "line\n")
	l.write("mine.txt", "mine\n")
	l.write("stashed.txt", "stashed\n")
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "Definitions")
	for _, args := range [][]string{{"branch", "feature"}, {"tag", "v1"}, {"branch", "doomed"}, {"tag", "v2"}} {
		l.git(args...)
	}
	l.write("stashed.txt", "mine\n")
	l.git("stash", "push", "-q", "-m", "mine")
	l.write("mine.txt", "changed\n")
	l.write("staged.txt", "staged\n")
	l.git("add", "staged.txt")
	l.write("untracked.txt", "untracked\n")
	return l, made
}
