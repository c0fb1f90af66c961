package configs

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"

	"relay/epic"
	"relay/epic/each"
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

	Tracked func(path string) bool // whether git tracks a file of Dir; nil: it tracks SharedFile alone
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
	l := newLoader(&s)
	l.read(Defaults(), "default")
	for key, s := range l.settings {
		s.origin = defaultOrigin
		l.settings[key] = s
	}
	files := s.Files()
	for _, path := range files {
		l.readFile(path)
		if other := strings.TrimSuffix(path, ".yml") + ".yaml"; s.Dir != "" && filepath.Dir(path) == s.Dir {
			if _, err := os.Lstat(other); err == nil {
				l.warnings = append(l.warnings, fmt.Sprintf("%s is not read: relay reads %s", other, filepath.Base(path)))
			}
		}
	}
	readEnviron(l, s.Environ)
	readFlags(l, s.Flags)
	for _, key := range l.keys() { // the defaults that all agents share
		f, _ := fieldOf(key)
		if _, set := l.settings[key]; !set && f.fallback != "" {
			l.settings[key] = setting{key: key, value: f.fallback, origin: defaultOrigin}
		}
	}
	c, err := l.decode()
	if err != nil {
		return nil, err
	}
	checkWhole(l, c)
	c.Warnings = l.warnings
	c.values, c.grants = l.explain()
	if len(l.problems) > 0 {
		return c, l.sorted(files)
	}
	return c, nil
}

// defaultOrigin is the origin of settings that no layer sets.
const defaultOrigin = "default"

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

// loader collects the layers, the weakest first.
type loader struct {
	settings map[string]setting             // by key, of the strongest layer that has it
	names    map[string]map[string]position // agents and receivers named in any layer, by section, where each was named last
	broken   map[string]bool                // those with a mistake, by section and name: what else they lack is not reported
	problems epic.Problems
	warnings []string
	sources  *Sources
}

func newLoader(s *Sources) *loader {
	return &loader{
		settings: map[string]setting{}, broken: map[string]bool{},
		names: map[string]map[string]position{agentsKey: {}, notifyKey: {}}, sources: s,
	}
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
		l.breakNamed(s.key)
	}
	if bad != nil {
		return
	}
	if p, ok := s.value.(Prices); ok { // layers add models
		merged := maps.Clone(p)
		for model, price := range l.prices() {
			if _, over := p[model]; !over {
				merged[model] = price
			}
		}
		s.value = merged
	}
	l.settings[s.key] = s
}

// breakNamed remembers that an agent or a receiver has a mistake.
func (l *loader) breakNamed(key string) {
	if section, name, ok := named(key); ok {
		l.broken[section+"."+name] = true
	}
}

// keys lists all settings, in the order of the documentation, those of agents and receivers by name.
func (l *loader) keys() (keys []string) {
	last := ""
	for _, f := range fields {
		section, _, ok := named(f.key)
		if !ok {
			keys = append(keys, f.key)
		} else if section != last {
			for _, name := range slices.Sorted(maps.Keys(l.names[section])) {
				keys = append(keys, each.Of(below(section+".*"), func(own string) string { return section + "." + name + "." + own })...)
			}
		}
		last = section
	}
	return keys
}

// decode lets viper decode the settings. viper folds the case of keys and splits them at dots, so it sees numbers for their names.
func (l *loader) decode() (*Config, error) {
	v, c := viper.New(), &Config{}
	names := map[string][]string{}
	for section, found := range l.names {
		names[section] = slices.Sorted(maps.Keys(found))
	}
	for key, s := range l.settings {
		if section, name, ok := named(key); ok {
			key = fmt.Sprintf("%s.%d%s", section, slices.Index(names[section], name), strings.TrimPrefix(key, section+"."+name))
		}
		if key != pricesKey {
			v.Set(key, s.decoded())
		}
	}
	if err := v.UnmarshalExact(c, func(d *mapstructure.DecoderConfig) { d.TagName = "key" }); err != nil {
		return nil, fmt.Errorf("decode the configuration: %w", err)
	}
	c.Relay.Agents, c.Relay.Notify = byName(names[agentsKey], c.Relay.Agents), byName(names[notifyKey], c.Relay.Notify)
	c.Relay.Prices = l.prices()
	return c, nil
}

// byName gives numbered entries their names back.
func byName[E any](names []string, numbered map[string]E) map[string]E {
	entries := make(map[string]E, len(names))
	for i, name := range names {
		entries[name] = numbered[strconv.Itoa(i)]
	}
	return entries
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

// prices returns the prices of the layers so far.
func (l *loader) prices() Prices {
	p, _ := l.settings[pricesKey].value.(Prices)
	return p
}

// explain lists the settings that hold, and those of them that grant something and come from a file of the repository.
func (l *loader) explain() (values, grants []Value) {
	for _, key := range l.keys() {
		s, ok := l.settings[key]
		if !ok {
			continue
		}
		values = append(values, Value{Key: key, Value: shown(s), Origin: s.origin})
		own := filepath.Dir(s.position.file) == l.sources.Dir && !slices.Contains([]string{"", "[]", "false"}, fmt.Sprint(s.value))
		if f, _ := fieldOf(key); f.grants && own {
			grants = append(grants, Value{Key: key, Value: s.value, Origin: s.origin})
		}
	}
	return values, grants
}

// GrantsOf lists what a text would grant as a file of the repository; nothing when it cannot be read.
func GrantsOf(text []byte) []Value {
	l := newLoader(&Sources{Dir: "/"})
	l.read(text, "/"+SharedFile)
	_, grants := l.explain()
	return grants
}

// shown returns the value of a setting as a file would have it; secrets are hidden.
func shown(s setting) any {
	f, _ := fieldOf(s.key)
	switch x := s.value.(type) {
	case string:
		if at, err := url.Parse(x); err == nil && f.hidden {
			return at.Scheme + "://" + at.Host + "/…"
		}
	case float64:
		if x == float64(int(x)) {
			return int(x)
		}
	case []string:
		items := slices.Clone(x)
		for i, item := range x {
			switch name, _, secret := strings.Cut(item, "="); {
			case f.hidden && strings.HasPrefix(s.key, notifyKey) && i > 0:
				items[i] = "…"
			case f.hidden && secret:
				items[i] = name + "=…"
			}
		}
		return items
	}
	return s.value
}
