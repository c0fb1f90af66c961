package configs

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/viper"

	"relay/epic"
)

// Names of the two files in a repository.
const (
	SharedFile = ".agents.yml"
	LocalFile  = ".agents.local.yml"
)

// Sources records where the layers of a configuration come from.
type Sources struct {
	UserFile string         // the user's own file; "" or a missing file: none
	Dir      string         // the repository, where SharedFile and LocalFile are looked for; "": neither is read
	Environ  []string       // NAME=value, as from os.Environ
	Flags    map[string]any // by dotted key; only flags that were given. Values: string, []string, bool, int, float64, time.Duration
}

// Files returns those that are read, the weakest first, whether they are there or not.
func (s Sources) Files() (files []string) {
	if s.UserFile != "" {
		files = append(files, s.UserFile)
	}
	if s.Dir != "" {
		files = append(files, filepath.Join(s.Dir, SharedFile), filepath.Join(s.Dir, LocalFile))
	}
	return files
}

// Load reads, merges and checks all layers. Its error is [epic.Problems] when the content is at fault, and then holds
// every mistake of every layer; the configuration beside it is what is left without them.
func Load(s Sources) (*Config, error) {
	l := &loader{agents: map[string]position{}, broken: map[string]bool{}}
	if err := l.read(Defaults(), "default"); err != nil {
		return nil, err
	}
	for i := range l.settings {
		l.settings[i].origin = "default"
	}
	files := s.Files()
	for _, path := range files {
		if err := l.readFile(path); err != nil {
			return nil, err
		}
		if other := strings.TrimSuffix(path, ".yml") + ".yaml"; s.Dir != "" && filepath.Dir(path) == s.Dir {
			if _, err := os.Lstat(other); err == nil {
				l.warnings = append(l.warnings, fmt.Sprintf("%s is not read: relay reads %s", other, filepath.Base(path)))
			}
		}
	}
	l.readEnviron(s.Environ)
	l.readFlags(s.Flags)
	l.fillAgents()
	c, err := l.merge()
	if err != nil {
		return nil, err
	}
	l.check(c)
	c.Warnings = l.warnings
	c.values = l.explain()
	if len(l.problems) > 0 {
		return c, l.sorted(files)
	}
	return c, nil
}

// setting is one value of one layer.
type setting struct {
	key      string
	value    any // as written: string, bool, int, float64, []string or Prices
	origin   string
	position position
	items    []position // of a list in a file
}

// position records where something is written.
type position struct {
	file         string
	line, column int
}

// loader collects the layers, weakest first.
type loader struct {
	settings []setting
	agents   map[string]position // every agent named in any layer, where it was named last
	broken   map[string]bool     // agents with a mistake: what else they lack is not reported
	problems epic.Problems
	warnings []string
}

func (l *loader) problem(at position, message, hint string) {
	if len(l.problems) < maxProblems {
		l.problems = append(l.problems, epic.Problem{File: at.file, Line: at.line, Column: at.column, Message: message, Hint: hint})
	}
}

// sorted puts the problems in the order of the layers, and of the lines within a file.
func (l *loader) sorted(files []string) epic.Problems {
	layer := func(p epic.Problem) int {
		if i := slices.Index(files, p.File); i >= 0 {
			return i
		}
		if p.File == "flag" {
			return len(files) + 1
		}
		return len(files) // a variable
	}
	slices.SortStableFunc(l.problems, func(a, b epic.Problem) int {
		return cmp.Or(cmp.Compare(layer(a), layer(b)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return l.problems
}

// set takes one value in, or its complaints.
func (l *loader) set(s setting, bad []complaint) {
	for _, c := range bad {
		at, key := s.position, s.key
		if c.item > 0 {
			key = cmp.Or(c.key, fmt.Sprintf("%s[%d]", key, c.item-1))
			if c.item <= len(s.items) {
				at = s.items[c.item-1]
			}
		}
		l.problem(at, key+" "+c.message, c.hint)
		if name, ok := agentOf(s.key); ok {
			l.broken[name] = true
		}
	}
	if bad == nil {
		l.settings = append(l.settings, s)
	}
}

// keys lists all settings, in the order of the documentation, those of agents by name.
func (l *loader) keys() (keys []string) {
	names := slices.Sorted(maps.Keys(l.agents))
	for i, f := range fields {
		if !strings.HasPrefix(f.key, agentsKey+".") {
			keys = append(keys, f.key)
		} else if !strings.HasPrefix(fields[i-1].key, agentsKey+".") {
			for _, name := range names {
				for _, own := range below(agentsKey + ".*") {
					keys = append(keys, agentsKey+"."+name+"."+own)
				}
			}
		}
	}
	return keys
}

// fillAgents gives every agent the defaults that all agents share, as the weakest layer.
func (l *loader) fillAgents() {
	var defaults []setting
	for _, key := range l.keys() {
		if f, _ := fieldOf(key); f.fallback != "" {
			defaults = append(defaults, setting{key: key, value: f.fallback, origin: "default"})
		}
	}
	l.settings = append(defaults, l.settings...)
}

// winner returns the setting of a key that holds, which is the last one written.
func (l *loader) winner(key string) (setting, bool) {
	for _, v := range slices.Backward(l.settings) {
		if v.key == key {
			return v, true
		}
	}
	return setting{}, false
}

// merge lets viper put the layers on top of each other and decodes the outcome.
//
// viper folds the case of every key and splits keys at dots, so it never sees the name of an agent: while it works,
// agents go by number. It never sees the environment either, where it would miss a nested key without a default.
func (l *loader) merge() (*Config, error) {
	names := slices.Sorted(maps.Keys(l.agents))
	number := make(map[string]string, len(names))
	for i, name := range names {
		number[name] = fmt.Sprintf("n%d", i)
	}
	v := viper.New()
	for _, s := range l.settings {
		key := s.key
		if name, ok := agentOf(key); ok {
			key = agentsKey + "." + number[name] + strings.TrimPrefix(key, agentsKey+"."+name)
		}
		if key != pricesKey {
			v.Set(key, s.decoded())
		}
	}
	var c Config
	if err := v.UnmarshalExact(&c); err != nil {
		return nil, fmt.Errorf("decode the configuration: %w", err)
	}
	agents := make(map[string]Agent, len(names))
	for _, name := range names {
		agents[name] = c.Relay.Agents[number[name]]
	}
	c.Relay.Agents, c.Relay.Prices = agents, l.prices()
	return &c, nil
}

// decoded returns the value as Config holds it.
func (s setting) decoded() any {
	f, ok := fieldOf(s.key)
	if !ok || f.kind != span {
		return s.value
	}
	units, _ := s.value.(float64)
	return time.Duration(units * float64(f.unit))
}

// explain lists the settings that hold.
func (l *loader) explain() (values []Value) {
	for _, key := range l.keys() {
		if s, ok := l.winner(key); ok {
			values = append(values, Value{Key: key, Value: l.shown(s), Origin: s.origin})
		}
	}
	return values
}

// shown returns the value of a setting as a file would have it; secrets are hidden.
func (l *loader) shown(s setting) any {
	switch x := s.value.(type) {
	case float64:
		if x == float64(int(x)) {
			return int(x)
		}
	case Prices:
		return l.prices()
	case []string:
		f, _ := fieldOf(s.key)
		items := slices.Clone(x)
		for i, item := range x {
			if name, _, secret := strings.Cut(item, "="); f.hidden && secret {
				items[i] = name + "=…"
			}
		}
		return items
	}
	return s.value
}
