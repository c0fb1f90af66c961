package project

import (
	"fmt"
	"os"
	"slices"

	"gopkg.in/yaml.v3"

	"relay/attempts"
	"relay/orchestrator/text"
)

// NewSince says how a run now would differ from an earlier one: by what this version of relay does otherwise, and by settings. It returns
// nil if that run recorded no settings.
func NewSince(p *Project, run string) (news []string) {
	type setting struct {
		Key, Origin string
		Value       any
	}
	var before, after []setting
	data, err := os.ReadFile(p.File(attempts.RunsDir, run, "settings.yml"))
	if err != nil || yaml.Unmarshal(data, &before) != nil || yaml.Unmarshal(p.EffectiveYAML(), &after) != nil || len(before) == 0 {
		return nil
	}
	var fresh, changed []string
	for _, now := range after {
		at := slices.IndexFunc(before, func(b setting) bool { return b.Key == now.Key })
		switch {
		case at < 0 && now.Key == "relay.worktree.share":
			news = append(news, "worktrees are outside of this checkout, in "+p.Worktrees().Dir+", with copies of dependencies that git ignores in place of links")
			fallthrough
		case at < 0:
			fresh = append(fresh, now.Key)
		case before[at].Origin == "flag": // it was for that run alone
		case fmt.Sprint(before[at].Value) != fmt.Sprint(now.Value):
			changed = append(changed, fmt.Sprintf("%s was %v and is %v", now.Key, before[at].Value, now.Value))
		}
	}
	if len(fresh) > 0 {
		news = append(news, "new settings: "+text.Some(fresh, 5))
	}
	return append(news, changed...)
}
