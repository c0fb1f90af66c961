package slot

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"relay/epic/pattern"
	"relay/reanchor/git"
)

const (
	firstPort = 20000 // below those that systems give to whoever asks for any
	ports     = 20    // of one slot
	blocks    = 600
)

// notCompose are the characters that docker compose takes in no name of a project.
var notCompose = pattern.New(`[^a-z0-9_-]+`)

// Checkout is the user's, as far as programs may be led there from a slot.
type Checkout struct {
	Root   string
	Python []string // folders, from the root and with slashes, that the user's python finds packages in
}

// searched are variables in which programs look for files of theirs.
var searched = []string{
	"PATH", "VIRTUAL_ENV", "PYTHONPATH", "NODE_PATH", "GOWORK", "CLASSPATH", "RUBYLIB", "PERL5LIB", "GEM_PATH", "BUNDLE_GEMFILE",
	"BUNDLE_PATH",
}

// Env returns the environment of a program in the slot at dir. Variables that name a path of the user's checkout name that of the slot,
// where it has one. Others keep the program apart from those of other slots, of any repository: the name of its docker compose project, the
// first port of a block, a folder for temporary files; these replace none.
func Env(dir string, user Checkout, env []string) []string {
	env = user.moved(dir, env)
	name := notCompose.ReplaceAllString(strings.ToLower("relay-"+filepath.Base(filepath.Dir(dir))+"-"+filepath.Base(dir)), "-")
	for _, own := range [][2]string{
		{"COMPOSE_PROJECT_NAME", name}, {"RELAY_PORT_BASE", fmt.Sprint(firstPort + ports*(block(dir)%blocks))}, {"TMPDIR", temp(dir)},
	} {
		if own[1] != "" && !slices.ContainsFunc(env, func(entry string) bool { return strings.HasPrefix(entry, own[0]+"=") }) {
			env = append(env, own[0]+"="+own[1])
		}
	}
	return env
}

// moved has variables lead to the slot at dir in place of the user's checkout.
func (c Checkout) moved(dir string, env []string) []string {
	env = slices.Clone(env)
	python := -1
	for i, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if !slices.Contains(searched, name) {
			continue
		}
		if name == "PYTHONPATH" {
			python = i
		}
		list := filepath.SplitList(value)
		for k, at := range list {
			if rest, below := strings.CutPrefix(at, c.Root+string(filepath.Separator)); below && git.Exists(filepath.Join(dir, rest)) {
				list[k] = filepath.Join(dir, rest)
			} else if at == c.Root {
				list[k] = dir
			}
		}
		env[i] = name + "=" + strings.Join(list, string(filepath.ListSeparator))
	}
	for _, folder := range slices.Backward(c.Python) {
		if python < 0 {
			python, env = len(env), append(env, "PYTHONPATH=")
		}
		first := filepath.Join(dir, filepath.FromSlash(folder))
		rest := strings.TrimPrefix(env[python], "PYTHONPATH=")
		env[python] = "PYTHONPATH=" + strings.TrimSuffix(first+string(filepath.ListSeparator)+rest, string(filepath.ListSeparator))
	}
	return env
}

// block returns the number of a block of ports: another one for each slot of a pool, and hardly the same for two pools.
func block(dir string) uint32 {
	name, kind := filepath.Base(dir), uint32(0)
	for i, prefix := range []string{ForBench, ForReview, ForRecovery} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			name, kind = rest, uint32(i+1)
		}
	}
	n, _ := strconv.ParseUint(name, 10, 16) // names have a number
	return sum(filepath.Dir(dir)) + 4*uint32(n) + kind
}

// temp makes the folder for temporary files of the slot at dir, unless it is there, and returns it; "" : it cannot be had. Its name is
// short: the path of a socket in it has 108 bytes at most.
func temp(dir string) string {
	folder := tempName(dir)
	err := os.MkdirAll(folder, 0o700)
	if err = errors.Join(err, os.Chmod(filepath.Dir(folder), 0o700)); err != nil { // another user has made it
		return ""
	}
	return folder
}

func tempName(dir string) string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("relay-%d", os.Getuid()), fmt.Sprintf("%08x", sum(dir)))
}

func sum(text string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return h.Sum32()
}
