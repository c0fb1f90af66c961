package orchestrator

import (
	"context"
	"errors"
	"slices"
	"strings"

	"relay/reanchor"
)

// refusal is where git is sent instead of a remote: no repository has that path, and git's error says why.
const refusal = "/relay does not let agents push (setting relay.push: false), so this is not pushed to "

// refusePush returns the settings of git (NAME=VALUE) that make a push fail with [refusal]: to any other machine, and to
// the remotes of this repository wherever they are. A push to a repository that a test has made for itself goes on
// working, and so does every fetch.
func refusePush(ctx context.Context, repo *reanchor.Git) ([]string, error) {
	out, err := repo.Run(ctx, reanchor.Call{Args: []string{"config", "-z", "--get-regexp", `^remote\..*\.(push)?url$`}})
	var none *reanchor.GitError
	if err != nil && (!errors.As(err, &none) || none.Code != 1) {
		return nil, err
	}
	prefixes := []string{"https://", "http://", "ssh://", "git://", "git+ssh://", "ssh+git://", "git@"}
	var only []string // addresses that are pushed to and not fetched from
	for entry := range strings.SplitSeq(string(out), "\x00") {
		key, url, _ := strings.Cut(entry, "\n")
		switch {
		case url == "":
		case strings.HasSuffix(key, ".pushurl"):
			only = append(only, url)
		default:
			prefixes = append(prefixes, url)
		}
	}
	var settings []string
	for _, p := range prefixes {
		settings = append(settings, "url."+refusedAddress(p)+".pushInsteadOf="+p)
	}
	for _, p := range []string{"http://127.0.0.1:", "http://localhost:"} { // of tests; the longest match counts
		settings = append(settings, "url."+p+".pushInsteadOf="+p)
	}
	for _, p := range only { // git does not apply pushInsteadOf to these
		if !slices.ContainsFunc(prefixes, func(url string) bool { return strings.HasPrefix(url, p) }) {
			settings = append(settings, "url."+refusedAddress(p)+".insteadOf="+p)
		}
	}
	return settings, nil
}

// refusedAddress is where git is sent instead of an address that begins with p.
func refusedAddress(p string) string {
	if strings.Contains(p, "=") { // it would end the setting's name
		return refusal
	}
	if _, rest, named := strings.Cut(p, "://"); named { // git would take all before it for the name of a protocol
		p = rest
	}
	return refusal + p
}
