package configs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// readEnviron takes in the RELAY_ variables. An empty variable is an unset one; an unknown one is only a warning,
// because the environment belongs to everybody.
func readEnviron(l *loader, environ []string) {
	keys := variables(l)
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "RELAY_") || slices.Contains(ours, name) || value == "" {
			continue
		}
		targets, found := keys[name]
		if !found {
			warning := shorten(name) + " is not a setting of relay"
			if near := nearest(name, slices.Sorted(maps.Keys(keys))); near != "" {
				warning += "; did you mean " + near + "?"
			}
			l.warnings = append(l.warnings, warning)
			continue
		}
		for _, key := range targets {
			f, _ := fieldOf(key)
			v, bad := f.fromText(value)
			l.set(setting{key: key, value: v, origin: name, position: position{file: name}}, bad)
		}
	}
}

// variables maps the name of each variable to the settings it sets: one, or more when the names of agents differ
// only in what a variable cannot say. Agents have variables once a file has named them.
func variables(l *loader) map[string][]string {
	keys := map[string][]string{}
	for _, key := range l.keys() {
		if name := variable(key); name != "" && !strings.HasPrefix(key, notifyKey) {
			keys[name] = append(keys[name], key)
		}
	}
	return keys
}

// readFlags takes in the flags that were given.
func readFlags(l *loader, flags map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		at := position{file: "flag"}
		f, ok := fieldOf(key)
		if !ok {
			l.problem(at, fmt.Sprintf("unknown key %q", shorten(key)), "")
			continue
		}
		v, bad := f.fromAny(flags[key])
		l.set(setting{key: key, value: v, origin: "flag", position: at}, bad)
	}
}
