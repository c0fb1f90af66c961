package labtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay/runners/sandbox"
)

// TestAttacks runs agents and checks that attack what is not theirs, or harm it by accident. In the sandbox no attack ends a run, so all
// are tasks of one run there. Without it, an attack that ends its run has a run of its own. Each run has its own processes, /tmp, /run and
// home, and can write nothing else of this machine.
func TestAttacks(t *testing.T) {
	needsMore(t)
	t.Parallel()
	if probe := sandbox.Try(t.Context(), os.Getenv("PATH")); probe.Kind != sandbox.Bubblewrap {
		t.Skip("without bubblewrap around the run this is too dangerous: " + probe.Why)
	}
	for column, wall := range []string{"off", "Landlock", "bubblewrap"} {
		for _, user := range []string{"root", "user"} {
			if user == "root" && os.Getuid() != 0 {
				continue
			}
			for _, list := range nightsOf(wall) {
				name := "together"
				if len(list) == 1 || list[0].setUp {
					name = list[0].name
				}
				t.Run(wall+"/"+user+"/"+name, func(t *testing.T) {
					t.Parallel()
					if list[0].name == diskFilled && (wall != "bubblewrap" || user == "root") && !*full {
						t.Skip("with -args -full it runs")
					}
					if wall == "Landlock" && len(sandbox.Try(t.Context(), "/nowhere").Lacks) != 1 {
						t.Skip("Landlock stops less on this kernel")
					}
					(&arena{t: t, folder: t.TempDir(), wall: wall, user: user, column: column}).night(list)
				})
			}
		}
	}
}

// nightsOf returns the attacks of each run.
func nightsOf(wall string) [][]attack {
	nights := [][]attack{nil, nil}
	for _, a := range attacks {
		switch {
		case a.alone || a.fatal && wall == "off":
			nights = append(nights, []attack{a})
		case a.setUp:
			nights[1] = append(nights[1], a)
		default:
			nights[0] = append(nights[0], a)
		}
	}
	return nights
}

// TestAttacksPage compares docs/attacks.md with the table.
func TestAttacksPage(t *testing.T) {
	t.Parallel()
	want := pageOfAttacks()
	if *update {
		if err := os.WriteFile(attacksPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(attacksPage); err != nil || string(got) != want {
		t.Errorf("%v; docs/attacks.md differs: go test ./cmd/relay/labtest -run TestAttacksPage -args -update\n%s", err, want)
	}
}

// arena is what a run of attacks can see and harm: below /mnt for the run, below folder for the test.
type arena struct {
	t          *testing.T
	folder     string
	wall, user string
	column     int // of its results
}

// night runs the attacks, and compares the result of each.
func (a *arena) night(list []attack) {
	a.t.Helper()
	a.furnish(list)
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bwrap", a.outside(list[0].name == diskFilled)...)
	cmd.Env = []string{
		"PATH=/mnt/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/mnt/home", "LC_ALL=C.UTF-8", "TMPDIR=/mnt/temp",
		"RELAY_INHIBIT_SLEEP=false", "RELAY_DISK_FLOOR_MIB=0", "RELAY_MEMORY_FLOOR_MIB=0", "JOBS=2", "SSH_AUTH_SOCK=/run/user/service",
	}
	if list[0].name == diskFilled {
		cmd.Env = append(cmd.Env, "RELAY_DISK_FLOOR_MIB=16")
	}
	if a.wall == "off" { // attacks must not meet
		cmd.Env = append(cmd.Env, "JOBS=1")
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		a.t.Fatalf("%v: %s", err, said)
	}
	log, report := a.read("log"), a.read("report")
	harmed := strings.Fields(a.read("harmed"))
	words := slices.DeleteFunc(slices.Collect(strings.Lines(log+report)), func(line string) bool {
		return strings.Contains(line, "the sandbox refuses")
	})
	for _, each := range list {
		if each.other && os.Getuid() != 0 {
			continue
		}
		result := stopped
		harm, said := slices.Contains(harmed, each.id()), each.says != "" && strings.Contains(strings.Join(words, ""), each.says)
		switch {
		case harm && said:
			result = told
		case harm:
			result = open
		case said:
			result = undone
		}
		if want := each.wants(a.column, a.user); result != want {
			a.t.Errorf("%s (%s): %s, want %s", each.name, each.id(), result, want)
		}
		if a.wall != "off" && !each.alone && !strings.Contains(log, each.id()+" completed") {
			a.t.Errorf("%s: its task is not completed", each.name)
		}
	}
	if a.t.Failed() {
		a.t.Logf("log:\n%s\nreport:\n%s", log, report)
	}
}

// outside returns the arguments of bubblewrap for everything that is not the arena's: it is read-only, or not there.
func (a *arena) outside(small bool) []string {
	args := strings.Fields("--unshare-pid --unshare-ipc --die-with-parent --ro-bind / / --dev /dev --proc /proc --tmpfs /root --tmpfs /home " +
		"--perms 1777 --size 33554432 --tmpfs /tmp --tmpfs /run --perms 1777 --dir /run/user --tmpfs /var --perms 1777 --dir /var/cron --chdir /mnt")
	args = append(args, "--bind", a.folder, "/mnt")
	if small {
		args = append(args, "--perms", "1777", "--size", "67108864", "--tmpfs", "/mnt/home/.local/state")
	}
	if os.Getuid() != 0 {
		return append(args, "--", "sh", "/mnt/night.sh")
	}
	become := "exec sh /mnt/night.sh"
	if a.user != "root" {
		become = "exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all sh /mnt/night.sh"
	}
	// No sandbox could make a /proc inside one with covered parts.
	return append(args, "--cap-add", "ALL", "--", "sh", "-c", "mount -t proc proc /proc; sh /mnt/other.sh & "+become)
}

func (a *arena) read(name string) string {
	a.t.Helper()
	text, _ := os.ReadFile(filepath.Join(a.folder, name)) // it is missing if nothing was harmed
	return string(text)
}

// furnish makes the home, the repository, the plan and the scripts.
func (a *arena) furnish(list []attack) {
	a.t.Helper()
	files := map[string]string{"night.sh": nightScript, "other.sh": otherUser, "ask.sh": askByHand, "service.py": serviceProgram, "home/act.sh": attacker, "home/judge.sh": judge}
	var plan, settings strings.Builder
	plan.WriteString("version: 2\nid: 20260101-attacks\ntitle: Survive\ntasks:\n  T0: {title: Nothing}\n")
	for _, each := range list {
		checks := ""
		files["rows/"+each.id()+".sh"], files["rows/"+each.id()+".harm"] = each.does, each.harm
		if each.harm == "" {
			files["rows/"+each.id()+".harm"] = "grep -rqs SECRET /mnt/work/.agents-os/relay/runs/*/" + each.id()
		}
		if each.setUp {
			checks = ", checks: [test -d committed]"
		}
		if each.check {
			checks = ", checks: [\"sh /mnt/rows/" + each.id() + ".sh; true\"]"
		}
		fmt.Fprintf(&plan, "  %s: {title: Attack, max_attempts: 1%s}\n", each.id(), checks)
	}
	setting := map[string]string{"off": "off"}[a.wall]
	if setting == "" {
		setting = sandbox.Require
	}
	reviewer := "none"
	if list[0].alone {
		reviewer = "ann"
	}
	setUp := ""
	if list[0].setUp {
		setUp = `"for each in $(ls committed); do sh /mnt/rows/$each.sh; done; true"`
	}
	fmt.Fprintf(&settings, attackSettings, setting, reviewer, setUp)
	files["home/.config/relay/agents.yml"], files["work/.agents-os/relay/epic.yml"] = settings.String(), plan.String()
	files["work/.agents-os/relay/.gitignore"] = "*\n"
	for name, text := range files {
		path := filepath.Join(a.folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			a.t.Fatal(err)
		}
	}
	putRelay(a.t, filepath.Join(a.folder, "bin"))
	if a.wall == "Landlock" { // a bubblewrap that does not start
		if err := os.WriteFile(filepath.Join(a.folder, "bin", "bwrap"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
			a.t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-c", furniture)
	cmd.Dir, cmd.Env = a.folder, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(a.folder, "home"), "GIT_CONFIG_NOSYSTEM=1"}
	if said, err := cmd.CombinedOutput(); err != nil {
		a.t.Fatalf("%v: %s", err, said)
	}
	if os.Getuid() == 0 && a.user != "root" {
		give(a.t, a.folder, 65534)
	}
}

// putRelay copies relay into a folder where other users find it.
func putRelay(t *testing.T, folder string) {
	t.Helper()
	path, err := exec.LookPath("relay")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err := errors.Join(err, os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, "relay"), program, 0o755)); err != nil {
		t.Fatal(err)
	}
}
