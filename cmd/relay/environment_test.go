package main

import (
	"slices"
	"strings"
	"testing"
)

func TestAgentsGetOnlyWhatTheyNeed(t *testing.T) {
	t.Parallel()
	environ := []string{
		"PATH=/bin", "HOME=/home/ada", "LC_ALL=C", "ANTHROPIC_API_KEY=secret", "GITHUB_TOKEN=secret", "PGPASSWORD=secret", "MY_FLAG=1",
		"MY_OTHER=2", "RELAY_FAULT=x", "GIT_DIR=/elsewhere", "TERM=xterm", "PYTHONPATH=a",
	}
	got := agentEnvironment(environ, []string{"MY_*", "PYTHONPATH=b", "NEW=c"})
	slices.Sort(got)
	want := []string{"ANTHROPIC_API_KEY=secret", "HOME=/home/ada", "LC_ALL=C", "MY_FLAG=1", "MY_OTHER=2", "NEW=c", "PATH=/bin", "PYTHONPATH=b", "TERM=dumb"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), strings.Join(want, " "))
	}
}

func TestFaultPoints(t *testing.T) {
	t.Parallel()
	if faultPoints("") != nil {
		t.Error("without the variable there is a fault")
	}
	fault := faultPoints("after-sync#2=EIO")
	for i, want := range []bool{false, false, true, false} {
		point := "after-sync"
		if i == 1 {
			point = "before-write"
		}
		if err := fault(point); (err != nil) != want {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
