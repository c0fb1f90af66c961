package labtest

import (
	"cmp"
	"crypto/sha1"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"relay/epic"
	"relay/orchestrator/secrets"
)

// labProject is one small project of a night of projects, as its agents know it.
type labProject struct {
	Name, Language, Trait string
	Root                  string // the user's checkout
	Port                  int    // that checks share, with the trait port
	Tasks                 []*projectTask
}

// projectTask writes the function f(x) = Factor * x + Summand + what it needs(x), with a test of its own.
type projectTask struct {
	ID, Kind        string
	Needs           []string // ids; the function uses the first of them
	Hidden          string   // id of what it uses, too, and the plan does not say so
	Factor, Summand int
	Commits, Files  bool // its agent commits; the plan names its files
	Millis          int  // that its agent works

	maker *projectTask // of Hidden
}

// What agents do, by the kind of their task. All of them are honest.
const (
	agentPlain    = "plain"    // does it
	agentAppend   = "append"   // adds a line to CHANGES.md, too, as its neighbours do
	agentOrder    = "order"    // needs what a neighbour makes; without that, it says so
	agentBranch   = "branch"   // commits on a branch of its own
	agentDetached = "detached" // commits on a detached HEAD
	agentAmend    = "amend"    // amends the commit that it began from
	agentStash    = "stash"    // leaves its work in the stash
	agentCheckout = "checkout" // writes into the user's checkout, by an absolute path
	agentNothing  = "nothing"  // finds everything done, and says so
	agentVerify   = "verify"   // is to verify that all tests pass
	agentJunk     = "junk"     // leaves a core dump, node_modules and .venv beside its work
	agentSecret   = "secret"   // leaves .env and a private key beside its work
	agentLeak     = "leak"     // commits an env file with a token
	agentTests    = "tests"    // changes a function, and therefore its test
	agentContext  = "context"  // fills its context, with its work half done and committed
	agentTurns    = "turns"    // uses up its turns twice, with a part done and committed each time
	agentUnable   = "unable"   // cannot do it, and says so
)

// projectKinds are the kinds of tasks: how many groups of them a night has at least, of how many tasks, and the fewest calls for one task.
var projectKinds = []struct {
	name                string
	groups, size, calls int
}{
	{agentAppend, 2, 3, 1},
	{agentOrder, 3, 2, 1},
	{agentBranch, 3, 1, 1},
	{agentDetached, 3, 1, 1},
	{agentAmend, 3, 1, 1},
	{agentStash, 3, 1, 1},
	{agentCheckout, 3, 1, 2},
	{agentNothing, 3, 1, 1},
	{agentVerify, 3, 1, 1},
	{agentJunk, 4, 1, 1},
	{agentSecret, 3, 1, 1},
	{agentLeak, 3, 1, 2},
	{agentTests, 4, 1, 1},
	{agentContext, 3, 1, 2},
	{agentTurns, 3, 1, 3},
	{agentUnable, 3, 1, 2},
	{agentPlain, 20, 1, 1},
}

// What all tasks of a project meet.
const (
	traitFlaky  = "flaky checks"    // on every second tree, the first run fails
	traitPort   = "shared port"     // checks listen on the same port
	traitLock   = "shared file"     // checks make the same folder outside of their checkout
	traitOutage = "outage"          // the set-up fails once, and later twice in a row
	traitRed    = "red before"      // one test of the suite fails, whatever anyone does
	traitSlow   = "slow suite"      // the suite takes two seconds
	traitHook   = "formatting hook" // a pre-commit hook removes trailing spaces, which half of the agents write
	traitMoving = "moving main"     // the user commits on main, twice
	traitQuota  = "reviewer limit"  // a reviewer is at its limit for two seconds
	traitLogin  = "reviewer out"    // one of two reviewers is not logged in
)

var projectTraits = []string{"", "", traitFlaky, traitPort, traitLock, traitOutage, traitRed, traitSlow, traitHook, traitMoving, traitQuota, traitLogin}

const (
	projectTasks = 100 // of a night
	mostTasks    = 12  // of a project
	fewTasks     = 4
)

// newProjects makes the projects of a night.
func newProjects(dice *rand.Rand) []*labProject {
	written := []string{"go", "node", "python", "python", "python", "python", "python", "sh", "sh", "sh", "sh", "sh"}
	dice.Shuffle(len(written), func(i, k int) { written[i], written[k] = written[k], written[i] })
	list := make([]*labProject, len(projectTraits))
	for i, trait := range projectTraits {
		list[i] = &labProject{Name: fmt.Sprintf("p%02d", i+1), Language: written[i], Trait: trait}
	}
	left := projectTasks
	for _, group := range newGroups(dice) {
		p := list[dice.IntN(len(list))]
		for !p.takes(group, left) {
			p = list[dice.IntN(len(list))]
		}
		p.Tasks = append(p.Tasks, group...)
		left -= len(group)
	}
	for _, p := range list {
		p.number(dice)
	}
	return list
}

// newGroups returns the tasks of a night, in groups that belong into one project.
func newGroups(dice *rand.Rand) (groups [][]*projectTask) {
	have := 0
	deal := func(kind string, size int) {
		group := make([]*projectTask, size)
		for i := range group {
			group[i] = &projectTask{Kind: kind, Factor: 2 + dice.IntN(7), Summand: 1 + dice.IntN(90), Millis: 20 + dice.IntN(150)}
			group[i].Commits, group[i].Files = dice.IntN(2) == 0, dice.IntN(2) == 0
		}
		if kind == agentOrder {
			group[0].maker, group[1].Kind = group[1], agentPlain
		}
		groups, have = append(groups, group), have+size
	}
	for _, k := range projectKinds {
		for range k.groups {
			deal(k.name, k.size)
		}
	}
	for have < projectTasks {
		if k := projectKinds[dice.IntN(len(projectKinds))]; k.size == 1 && k.name != agentUnable {
			deal(k.name, 1)
		}
	}
	dice.Shuffle(len(groups), func(i, k int) { groups[i], groups[k] = groups[k], groups[i] })
	slices.SortStableFunc(groups, func(a, b []*projectTask) int { // not every project has room for the large ones, or may verify
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(strings.Count(b[0].Kind, agentVerify), strings.Count(a[0].Kind, agentVerify)))
	})
	return groups
}

// takes reports whether a group of tasks may be part of a project while so many tasks are left. First each project gets a few.
func (p *labProject) takes(group []*projectTask, left int) bool {
	most := mostTasks
	if left > projectTasks-fewTasks*len(projectTraits) || p.Trait == traitSlow {
		most = fewTasks
	}
	return len(p.Tasks)+len(group) <= most && (group[0].Kind != agentVerify || p.Trait != traitRed)
}

// number puts the tasks into an order, and has some depend on earlier ones.
func (p *labProject) number(dice *rand.Rand) {
	dice.Shuffle(len(p.Tasks), func(i, k int) { p.Tasks[i], p.Tasks[k] = p.Tasks[k], p.Tasks[i] })
	for i, t := range p.Tasks {
		t.ID = fmt.Sprintf("T%02d", i+1)
		if i == 0 || t.maker != nil || slices.Contains([]string{agentNothing, agentTests}, t.Kind) || t.Kind != agentVerify && dice.IntN(4) > 0 {
			continue
		}
		if on := p.Tasks[dice.IntN(i)]; on.maker == nil && on.Kind != agentUnable && on.Kind != agentVerify {
			t.Needs = []string{on.ID}
		}
	}
	for _, t := range p.Tasks {
		if t.maker != nil {
			t.Hidden, t.maker.Needs = t.maker.ID, nil
		}
	}
}

func (p *labProject) task(id string) *projectTask {
	i := slices.IndexFunc(p.Tasks, func(t *projectTask) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return p.Tasks[i]
}

// used returns the task whose function another one uses, or nil.
func (p *labProject) used(t *projectTask) *projectTask {
	return p.task(cmp.Or(t.Hidden, strings.Join(t.Needs, "")))
}

func (p *labProject) value(t *projectTask, x int) int {
	v := t.Factor*x + t.Summand
	if need := p.used(t); need != nil && t.Kind != agentVerify {
		v += p.value(need, x)
	}
	return v
}

func (t *projectTask) name() string    { return strings.ToLower(t.ID) }
func (t *projectTask) canBeDone() bool { return t.Kind != agentUnable }

// mayLook reports whether a person may be asked to look at a task that is right.
func (p *labProject) mayLook(t *projectTask) bool {
	switch t.Kind {
	case agentNothing, agentLeak:
		return true
	case agentTests:
		if !t.Files {
			return true
		}
	}
	return p.Trait == traitLogin
}

// unformatted reports whether the first code of a task's agent has trailing spaces.
func (p *labProject) unformatted(t *projectTask) bool { return p.Trait == traitHook && t.Factor%2 == 0 }

// fewest is how many calls a task needs, apart from those that no plan could avoid.
func (p *labProject) fewest(t *projectTask) int {
	for _, k := range projectKinds {
		if k.name == t.Kind {
			return k.calls
		}
	}
	return 0
}

// written fills in a text of the project's language for a task; added is added to what its function returns.
func (p *labProject) written(text string, t *projectTask, x, added int) string {
	l, need := languages[p.Language], p.used(t)
	use, call, name := "", "", ""
	if need != nil {
		use, call, name = l.use, l.call, need.name()
	}
	text = strings.NewReplacer("@USE", use, "@CALL", call).Replace(text)
	return strings.NewReplacer("@NAME", t.name(), "@NEED", name, "@F", fmt.Sprint(t.Factor), "@S", fmt.Sprint(t.Summand+added), "@X", fmt.Sprint(x),
		"@WANT", fmt.Sprint(p.value(t, x)+added)).Replace(text)
}

// code and test are the files of a task.
func (p *labProject) code(t *projectTask) (path, text string) {
	l := languages[p.Language]
	return p.written(l.code, t, 0, 0), p.written(l.body, t, 0, 0)
}

func (p *labProject) test(t *projectTask) (path, text string) {
	l := languages[p.Language]
	return p.written(l.test, t, 0, 0), p.written(l.testBody, t, 3, 0)
}

// stray are files beside a task's work that belong into no commit.
func (t *projectTask) stray() map[string]string {
	sum := blob(t.name())
	env := "GITHUB_TOKEN=ghp_" + sum[:36] + "\n"
	switch t.Kind {
	case agentJunk:
		return map[string]string{
			"core.4" + t.ID[1:]: "\x7fELF\x02\x01\x01" + sum + strings.Repeat("\x00\x01\x02\x03", 1<<20), ".venv/lib/" + t.name() + ".py": "# " + sum + "\n",
			"node_modules/" + t.name() + "/index.js": "// " + sum + "\n", "node_modules/.package-lock.json": "{\"of\": \"" + sum + "\"}\n",
		}
	case agentSecret:
		kind := " OPENSSH PRIVATE KEY-----\n"
		return map[string]string{".env": env, "deploy_key": "-----BEGIN" + kind + strings.Repeat(sum+"b3BlbnNzaC1rZXktdjEA\n", 6) + "-----END" + kind}
	case agentLeak:
		return map[string]string{t.name() + ".env": env}
	}
	return nil
}

// blob is the name that git gives to a file.
func blob(text string) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)))
}

// checks are the commands of a task that accept it.
func (p *labProject) checks(t *projectTask) (list []string) {
	if t.Kind == agentVerify {
		return nil
	}
	check := p.written(languages[p.Language].check, t, 0, 0)
	if slices.Contains([]string{traitFlaky, traitPort, traitLock}, p.Trait) {
		check = "sh ci/service.sh " + t.name() + " && " + check
	}
	if t.Kind == agentAppend {
		list = append(list, "grep -qx -e '- "+t.name()+"' CHANGES.md")
	}
	return append(list, check)
}

// description is all that an agent needs to do a task.
func (p *labProject) description(t *projectTask) (title, text string) {
	path, _ := p.code(t)
	switch t.Kind {
	case agentVerify:
		return "Verify that all tests pass", "Run the whole test suite."
	case agentUnable:
		return "Rotate the key of the staging server", "Put the answer of the server into " + path + "."
	case agentTests:
		title = fmt.Sprintf("Have %s add %d", t.name(), t.Summand)
		text = fmt.Sprintf("%s adds %d, and is to add %d. Its test says so, too, then.", path, t.Summand+1, t.Summand)
	default:
		title = "Write " + t.name()
		text = fmt.Sprintf("Write %s and its test: it returns %d * x + %d", path, t.Factor, t.Summand)
		if need := p.used(t); need != nil {
			text += " + " + need.name() + " of x"
		}
	}
	if t.Kind == agentAppend {
		text += ". Add the line '- " + t.name() + "' to CHANGES.md"
	}
	return title, text + "."
}

// epic is the plan as relay reads it.
func (p *labProject) epic() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 2\nid: 20260101-lab\ntitle: A project\nchecks: [%q]\ntasks:\n", languages[p.Language].suite)
	for _, t := range p.Tasks {
		title, text := p.description(t)
		fmt.Fprintf(&b, "  %s:\n    title: %q\n    description: %q\n", t.ID, title, text)
		if list := p.checks(t); len(list) > 0 {
			fmt.Fprintf(&b, "    checks: [%q]\n", strings.Join(list, " && "))
		}
		if t.Kind == agentVerify && knowsVerify() {
			b.WriteString("    kind: verify\n")
		}
		if len(t.Needs) > 0 {
			fmt.Fprintf(&b, "    depends_on: [%s]\n", t.Needs[0])
		}
		if code, _ := p.code(t); t.Files && t.Kind != agentVerify {
			test, _ := p.test(t)
			fmt.Fprintf(&b, "    files: [%s, %s]\n", code, test)
		}
	}
	return b.String()
}

// knowsVerify reports whether plans have tasks of the kind verify.
func knowsVerify() bool {
	_, err := epic.Read("epic.yml", []byte("version: 2\nid: 20260101-lab\ntitle: A\nchecks: [a]\ntasks: {T1: {title: A, kind: verify}}\n"))
	return err == nil
}

// service is the script that the suite's first test runs; out is a folder that all checkouts share.
func (p *labProject) service(out string) string {
	switch p.Trait {
	case traitFlaky:
		return "tree=$(git rev-parse 'HEAD^{tree}')\ncase $tree in *[02468ace]) exit 0;; esac\nmkdir " + out + "/$1-$tree 2>/dev/null || exit 0\necho 'Timeout: the service did not answer within 5000 ms'\nexit 1\n"
	case traitPort:
		return fmt.Sprintf("exec python3 -c 'import socket, time; s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind((\"127.0.0.1\", %d)); s.listen(); time.sleep(0.1)' 2>&1\n", p.Port)
	case traitLock:
		return "mkdir " + out + "/lock || { echo 'database is locked'; exit 1; }\nsleep 0.1\nrmdir " + out + "/lock\n"
	case traitRed:
		return "echo 'certificate expired on 2026-01-01'\nexit 1\n"
	case traitSlow:
		return "[ $1 != suite ] || sleep 2\n"
	}
	return "exit 0\n"
}

// files are the project's files before the night.
func (p *labProject) files(out string) map[string]string {
	l := languages[p.Language]
	files := map[string]string{"CHANGES.md": "# Changes\n\n", "ci/service.sh": p.service(out)}
	maps.Copy(files, l.base)
	for _, t := range p.Tasks {
		if t.Kind == agentNothing || t.Kind == agentTests {
			added := map[string]int{agentTests: 1}[t.Kind]
			files[p.written(l.code, t, 0, 0)] = p.written(l.body, t, 0, added)
			files[p.written(l.test, t, 0, 0)] = p.written(l.testBody, t, 3, added)
		}
	}
	if p.Trait == traitHook {
		files[".githooks/pre-commit"] = "bad=$(git diff --cached --name-only --diff-filter=AM | xargs -r grep -lIE ' +$')\n[ -z \"$bad\" ] && exit 0\nsed -i 's/ *$//' $bad\necho \"trim trailing whitespace: files were modified by this hook: $bad\"\nexit 1\n"
	}
	if p.Trait == traitOutage {
		files["ci/setup.sh"] = "n=$(ls " + out + " | wc -l)\nmkdir " + out + "/$n-$$\ncase $n in 0|5|6) echo 'npm ERR! network request to https://registry.npmjs.org failed'; exit 1;; esac\n"
	}
	return files
}

// TestProjectsPlan wants every behaviour in every night, often enough to tell.
func TestProjectsPlan(t *testing.T) {
	t.Parallel()
	for round := range uint64(50) {
		tasks, times := 0, map[string]int{}
		for _, p := range newProjects(rand.New(rand.NewPCG(round, 38))) {
			tasks += len(p.Tasks)
			times[p.Trait] += len(p.Tasks)
			for _, task := range p.Tasks {
				times[task.Kind]++
				for path, text := range task.stray() {
					if task.Kind != agentJunk && secrets.New(nil).Text(text) == text {
						t.Errorf("seed %d: %s is not a secret:\n%s", round, path, text)
					}
				}
			}
			if _, err := epic.Read("epic.yml", []byte(p.epic())); err != nil || len(p.Tasks) < fewTasks || len(p.Tasks) > mostTasks {
				t.Errorf("seed %d: %d tasks in project %s: %v", round, len(p.Tasks), p.Name, err)
			}
		}
		for _, k := range projectKinds {
			if times[k.name] < 3 {
				t.Errorf("seed %d has %d tasks of the kind %s", round, times[k.name], k.name)
			}
		}
		if tasks != projectTasks {
			t.Errorf("seed %d has %d tasks", round, tasks)
		}
	}
}
