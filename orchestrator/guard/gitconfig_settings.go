package guard

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/epic/each"
	"relay/reanchor/git"
)

// effect says what a changed setting of git's is to relay.
type effect int

const (
	harmless effect = iota // git's own notes, such as which branch follows which
	personal               // nothing that relay does depends on it; but the user will want to know
	steering               // it decides what git reads and writes, which programs it runs for that, or where it sends it
)

// classify reports what kind of effect a change of a setting has. known reports whether there was anything in its section before.
func classify(key string, values []string, known bool) effect {
	section, rest, _ := strings.Cut(key, ".")
	name := rest[strings.LastIndex(rest, ".")+1:]
	switch section {
	case "core":
		inside := func(v string) bool { return filepath.IsLocal(filepath.FromSlash(v)) }
		if name == "hookspath" && len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return !inside(v) }) {
			return personal // the hooks of a package manager, which its install sets up in every checkout
		}
		return steering
	case "filter", "merge", "diff", "url", "include", "includeif", "extensions":
		return steering
	case "remote":
		// Another remote does no harm; remote.pushDefault does. Programs keep notes of their own there, too.
		leads := slices.Contains([]string{"url", "pushurl", "fetch", "push", "mirror", "proxy", "vcs", "receivepack", "uploadpack"}, name)
		if known && leads || name == rest {
			return steering
		}
	case "branch":
		if name == "pushremote" {
			return steering
		}
		return harmless
	case "submodule", "lfs", "gc", "maintenance":
		return harmless
	}
	return personal
}

// difference holds the effect of each changed setting, by its key.
type difference map[string]effect

// keys lists the settings whose changes have the effect w.
func (d difference) keys(w effect) []string {
	return each.Where(slices.Sorted(maps.Keys(d)), func(key string) (string, bool) { return key, d[key] == w })
}

// compare classifies what has changed from one configuration to another.
func compare(was, is map[string][]string) difference {
	sections := map[string]bool{}
	for key := range was {
		sections[key[:strings.LastIndex(key, ".")]] = true
	}
	d := difference{}
	for _, all := range []map[string][]string{was, is} {
		for key := range all {
			if !slices.Equal(was[key], is[key]) {
				d[key] = classify(key, is[key], sections[key[:strings.LastIndex(key, ".")]])
			}
		}
	}
	return d
}

// settings reads a configuration as git does: values by their full names.
func (r *ConfigGuard) settings(ctx context.Context, content []byte) (map[string][]string, error) {
	out, err := r.config(ctx, content, "--file", "-", "--null", "--list", "--no-includes")
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		key, value, plain := strings.Cut(entry, "\n")
		if !plain {
			value = "true" // a name alone
		}
		if strings.Contains(key, ".") {
			all[key] = append(all[key], value)
		}
	}
	return all, nil
}

// config asks git outside of any repository: this one's configuration may be what keeps git from working.
func (r *ConfigGuard) config(ctx context.Context, content []byte, args ...string) ([]byte, error) {
	call := git.Writing(append([]string{"config"}, args...)...)
	call.Dir, call.GitDir, call.Stdin = r.Repo.CommonDir(), filepath.Join(os.DevNull, "none"), bytes.NewReader(content)
	return git.Run(ctx, call)
}
