package project

import (
	"slices"
	"strings"
	"testing"

	"relay/configs"
)

func TestAgentsGetOnlyWhatTheyNeed(t *testing.T) {
	t.Parallel()
	environ := []string{
		"PATH=/bin", "HOME=/home/ada", "LC_ALL=C", "ANTHROPIC_API_KEY=secret", "AWS_PROFILE=x", "OPENAI_API_KEY=secret", "GITHUB_TOKEN=secret", "PGPASSWORD=secret", "MY_FLAG=1",
		"MY_OTHER=2", "RELAY_FAULT=x", "GIT_DIR=/elsewhere", "TERM=xterm", "PYTHONPATH=a",
	}
	got := CommonEnvironment(environ, []string{"MY_*", "PYTHONPATH=b", "NEW=c"})
	slices.Sort(got)
	want := []string{"HOME=/home/ada", "LC_ALL=C", "MY_FLAG=1", "MY_OTHER=2", "NEW=c", "PATH=/bin", "PYTHONPATH=b", "TERM=dumb"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), strings.Join(want, " "))
	}
	common := []string{"ANTHROPIC_BASE_URL=http://a", "MY_*"}
	for _, c := range []struct {
		kind string
		env  []string
		want string
	}{
		{"claude", nil, "ANTHROPIC_API_KEY=secret AWS_PROFILE=x"},
		{"claude", []string{"ANTHROPIC_API_KEY=own", "GITHUB_*"}, "ANTHROPIC_API_KEY=own AWS_PROFILE=x GITHUB_TOKEN=secret"},
		{"codex", []string{"PGPASSWORD"}, "AWS_PROFILE=x OPENAI_API_KEY=secret PGPASSWORD=secret"},
		{"gemini", nil, ""},
		{"opencode", nil, "ANTHROPIC_API_KEY=secret AWS_PROFILE=x OPENAI_API_KEY=secret"},
		{"command", nil, "ANTHROPIC_API_KEY=secret AWS_PROFILE=x OPENAI_API_KEY=secret"},
		{"scripted", nil, ""},
	} {
		own := ownEnvironment(append(environ, "ANTHROPIC_BASE_URL=http://b"), common, configs.Agent{Type: c.kind, Env: c.env})
		slices.Sort(own)
		if got := strings.Join(own, " "); got != c.want {
			t.Errorf("%s with %v: got %s, want %s", c.kind, c.env, got, c.want)
		}
	}
}

func TestFaultPoints(t *testing.T) {
	t.Parallel()
	if FaultPoints("") != nil {
		t.Error("without the variable there is a fault")
	}
	fault := FaultPoints("after-sync#2=EIO")
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
