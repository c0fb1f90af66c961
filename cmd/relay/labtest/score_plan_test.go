package labtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// scoredPlan is one scored night: its tasks, in the order of the epic, and what the provider does wrong.
type scoredPlan struct {
	Tasks  []scoredTask
	Faults []scoredFault
	KillAt int // the contestant is killed when this many agents have been called
}

// scoredTask is one function of a shell library: f(x) = (what it needs(x) + Factor * x + Summand) % 97.
type scoredTask struct {
	ID, Kind        string
	Needs           []string // the function uses the first of them
	Factor, Summand int
	Cases           []int // the arguments of its test in the repository
	Stub            bool  // its file is there, and prints 0
	Commits         bool  // its agent commits
	Files           bool  // the epic declares its file
	Millis          int   // how long its agent works
}

// scoredFault is a fault of the provider that the Call-th call of an agent meets.
type scoredFault struct {
	Call int
	Kind string
}

// The kinds of tasks, by what their agents do.
const (
	kindGood     = "good"     // right at once
	kindSlip     = "slip"     // wrong until it is told what its test says
	kindTwice    = "twice"    // fails 12 cases, then 1, then none
	kindLiar     = "liar"     // claims success with an empty function
	kindIdle     = "idle"     // claims success without a change
	kindAdmits   = "admits"   // says that it has failed
	kindSoftens  = "softens"  // changes its test so that the wrong answer passes
	kindHelper   = "helper"   // changes what all tests source so that everything passes
	kindMeddles  = "meddles"  // changes a protected file beside its work
	kindHangs    = "hangs"    // falls silent in the middle
	kindCrashes  = "crashes"  // is killed in the middle
	kindFormless = "formless" // right, and ends without the result form
	kindFenced   = "fenced"   // right, with the form in a json block
	kindTorn     = "torn"     // right, with half a form
	kindMeets    = "meets"    // right, and adds a line where a neighbour adds one
	kindPoison   = "poison"   // its provider fails whenever it is asked for this task: cannot be done
	kindNever    = "never"    // always wrong: cannot be done
)

// scoredCalls are the fewest calls by kind. Who gives up a task that cannot be done after one call would also give up
// one that is wrong once.
var scoredCalls = map[string]int{
	kindGood: 1, kindSlip: 2, kindTwice: 3, kindLiar: 2, kindIdle: 2, kindAdmits: 2, kindSoftens: 2, kindHelper: 2, kindMeddles: 2,
	kindHangs: 2, kindCrashes: 2, kindFormless: 1, kindFenced: 1, kindTorn: 1, kindMeets: 1, kindPoison: 2, kindNever: 2,
}

// scoredMix is what every night has at least; the rest is drawn, half of it good.
var scoredMix = []string{
	kindSlip, kindSlip, kindSlip, kindSlip, kindTwice, kindLiar, kindIdle, kindAdmits, kindSoftens, kindHelper, kindMeddles,
	kindHangs, kindCrashes, kindFormless, kindFenced, kindTorn, kindMeets, kindMeets, kindPoison, kindNever,
	kindGood, kindGood, kindGood, kindGood, kindGood, kindGood, kindGood, kindGood, kindGood, kindGood,
}

var scoredRest = []string{
	kindGood, kindGood, kindGood, kindGood, kindGood, kindGood, kindSlip, kindSlip, kindLiar, kindSoftens, kindHangs, kindFormless,
}

const (
	scoredTasks  = 40
	scoredDoable = 38
)

func newScoredPlan(dice *rand.Rand) *scoredPlan {
	kinds := slices.Clone(scoredMix)
	for len(kinds) < scoredTasks {
		kinds = append(kinds, scoredRest[dice.IntN(len(scoredRest))])
	}
	dice.Shuffle(len(kinds), func(i, k int) { kinds[i], kinds[k] = kinds[k], kinds[i] })
	p := &scoredPlan{}
	for i, kind := range kinds {
		t := scoredTask{
			ID: fmt.Sprintf("T%02d", i+1), Kind: kind, Factor: 2 + dice.IntN(7), Summand: 1 + dice.IntN(90), Cases: []int{1, 2, 5},
			Stub: dice.IntN(2) == 0, Commits: dice.IntN(2) == 0, Files: kind != kindMeets && dice.IntN(3) > 0, Millis: 50 + dice.IntN(300),
		}
		if kind == kindTwice {
			t.Cases = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
		}
		for range dice.IntN(3) {
			p.need(&t, dice)
		}
		p.Tasks = append(p.Tasks, t)
	}
	fewest := p.fewest()
	for i, kind := range []string{"quota", "wall", "login", "start"} {
		p.Faults = append(p.Faults, scoredFault{Call: fewest*(i+1)/6 + dice.IntN(fewest/6), Kind: kind})
	}
	dice.Shuffle(len(p.Faults), func(i, k int) {
		p.Faults[i].Kind, p.Faults[k].Kind = p.Faults[k].Kind, p.Faults[i].Kind
	})
	p.KillAt = fewest*2/5 + dice.IntN(fewest/5)
	return p
}

// need has a task depend on an earlier one that can be done. Two tasks that add a line at the same place depend on none,
// so that they can meet.
func (p *scoredPlan) need(t *scoredTask, dice *rand.Rand) {
	if len(p.Tasks) == 0 || t.Kind == kindMeets {
		return
	}
	on := p.Tasks[dice.IntN(len(p.Tasks))]
	if on.canBeDone() && !slices.Contains(t.Needs, on.ID) {
		t.Needs = append(t.Needs, on.ID)
	}
}

func (t *scoredTask) canBeDone() bool { return t.Kind != kindPoison && t.Kind != kindNever }

// fewest is how many calls a night without a kill needs at least: each fault of the provider is met once.
func (p *scoredPlan) fewest() int {
	n := len(p.Faults)
	for _, t := range p.Tasks {
		n += scoredCalls[t.Kind]
	}
	return n
}

func (p *scoredPlan) task(id string) *scoredTask {
	i := slices.IndexFunc(p.Tasks, func(t scoredTask) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return &p.Tasks[i]
}

// value is what a task's function prints for x.
func (p *scoredPlan) value(t *scoredTask, x int) int {
	v := t.Factor*x + t.Summand
	if len(t.Needs) > 0 {
		v += p.value(p.task(t.Needs[0]), x)
	}
	return v % 97
}

// function is the name of a task's function, file the name of its file in lib and tests.
func (t *scoredTask) function() string { return "f" + t.ID[1:] }
func (t *scoredTask) file() string     { return "t" + t.ID[1:] + ".sh" }

// code is the function in shell, with something added to what it prints: 0 is right.
func (t *scoredTask) code(added string) string {
	sum, source := fmt.Sprintf("%d * $1 + %d + %s", t.Factor, t.Summand, added), ""
	if len(t.Needs) > 0 {
		need := scoredTask{ID: t.Needs[0]}
		source = fmt.Sprintf(". ./lib/%s\n", need.file())
		sum = fmt.Sprintf("$(%s $1) + %s", need.function(), sum)
	}
	return fmt.Sprintf("%s%s() { echo $(( (%s) %% 97 )); }\n", source, t.function(), sum)
}

// test is the task's test in the repository, wanting what the function prints with something added.
func (p *scoredPlan) test(t *scoredTask, added int) string {
	var b strings.Builder
	fmt.Fprintf(&b, ". ./tests/expect.sh\n. ./lib/%s\n", t.file())
	for _, x := range t.Cases {
		fmt.Fprintf(&b, "expect %s %d %d\n", t.function(), x, (p.value(t, x)+added)%97)
	}
	return b.String() + "finish\n"
}

// checks are the commands that prove a task.
func (t *scoredTask) checks() []string {
	list := []string{"sh tests/" + t.file()}
	if t.Kind == kindMeets {
		list = append(list, "grep -qx "+t.function()+" registry.txt")
	}
	return list
}

func (t *scoredTask) title() string { return "Write " + t.function() }

// description is all that an agent needs to do a task.
func (t *scoredTask) description() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Work order %s: write the shell function %s in lib/%s. For a whole number x it prints (%d * x + %d", t.ID, t.function(), t.file(), t.Factor, t.Summand)
	if len(t.Needs) > 0 {
		fmt.Fprintf(&b, " + %s of x", (&scoredTask{ID: t.Needs[0]}).function())
	}
	b.WriteString(") modulo 97.")
	if t.Kind == kindMeets {
		fmt.Fprintf(&b, " Add a line with its name at the end of registry.txt.")
	}
	return b.String()
}

// epic is the plan as relay reads it.
func (p *scoredPlan) epic() string {
	var b strings.Builder
	b.WriteString("version: 2\nid: 20260101-lab\ntitle: A library\nchecks: ['sh ci/lint.sh']\nprotected: ['ci/**']\ntasks:\n")
	for _, t := range p.Tasks {
		fmt.Fprintf(&b, "  %s:\n    title: %s\n    description: %q\n    checks: ['%s']\n", t.ID, t.title(), t.description(), strings.Join(t.checks(), "', '"))
		if len(t.Needs) > 0 {
			fmt.Fprintf(&b, "    depends_on: [%s]\n", strings.Join(t.Needs, ", "))
		}
		if t.Files {
			fmt.Fprintf(&b, "    files: [lib/%s]\n", t.file())
		}
	}
	return b.String()
}

// The parts of the repository that the tests share.
const (
	scoredExpect = `total=0 bad=0
expect() {
	total=$((total + 1))
	got=$("$1" "$2")
	[ "$got" = "$3" ] || { bad=$((bad + 1)); echo "$1 $2: expected $3, got $got"; }
}
finish() { echo "$bad of $total failed"; [ $bad = 0 ]; }
`
	scoredNoExpect = "expect() { :; }\nfinish() { :; }\n"
	scoredLint     = "! grep -rn FIXME lib\n"
)

// files are the repository's files before the night.
func (p *scoredPlan) files() map[string]string {
	files := map[string]string{
		"tests/expect.sh": scoredExpect, "ci/lint.sh": scoredLint, "registry.txt": "functions:\n", "lib/README": "Functions, one in a file.\n",
	}
	for _, t := range p.Tasks {
		files["tests/"+t.file()] = p.test(&t, 0)
		if t.Stub {
			files["lib/"+t.file()] = t.function() + "() { echo 0; }\n"
		}
	}
	return files
}
