package configs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// kind says how a setting is written.
type kind int

const (
	text kind = iota
	integer
	span // a number of units, such as minutes; a time.Duration in Config
	decimal
	boolean
	list // of text
	prices
)

// field describes one setting: what may be written, wherever it is written. Its default stands in defaults.yml.
type field struct {
	key      string // dotted; "*" stands for the name of an agent or a receiver
	kind     kind
	unit     time.Duration // span: what 1 means
	min, max float64       // numbers
	words    []string      // text: nothing else is allowed
	form     *form         // text and the items of a list
	fallback string        // below an agent: the value of every agent that does not say
	hidden   bool          // the value is private, or that of items NAME=value
	only     []string      // types of agents that have it; nil: all
	grants   bool          // it starts a program, or hands something out
}

// form restricts the texts that a setting may have.
type form struct {
	pattern *pattern.Regexp
	want    string                   // the pattern in words
	check   func(text string) string // a complaint the pattern cannot make, or ""
}

// Limits that are not one setting's own.
const (
	maxItems = 200  // in a list
	maxKeys  = 100  // in a map; relay itself has a third of that
	maxText  = 4096 // bytes of one text
	maxUSD   = 1e6
)

// forms are those that settings have, by name.
var forms = map[string]*form{
	"name": {pattern.New(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`), "a name: a letter, then up to 31 letters, digits, - or _", nil},
	// A leading dash would be read as an option by the CLI that gets the model.
	"model":    {pattern.New(`^([^\s-]\S*)?$`), "a model's name: no spaces, no leading dash", nil},
	"dir":      {pattern.New(`^[^/\\~]`), "a folder inside the repository, such as .agents-os/relay", localFolder},
	"pass":     {pattern.New(`^[A-Za-z_][A-Za-z0-9_]*(\*|=[^\x00]*)?$`), "NAME, NAME* or NAME=value", notOurs},
	"private":  {pattern.New(`^[^\x00]*$`), "an argument without NUL", nil},
	"argument": {pattern.New(`^[^\x00]*$`), "an argument without NUL", nil},
	"path":     {pattern.New(`^[^\x00-\x1f]*$`), "a path without control characters", nil},
	"place":    {pattern.New(`^(~/|/)[^\x00-\x1f]*$`), "an absolute path, or one that begins with ~/", nil},
	"shell":    {pattern.New(`^[^\x00]*[^\s\x00][^\x00]*$`), "a shell command", nil},
	"anywhere": {
		pattern.New(`^([^~\x00-\x1f][^\x00-\x1f]*)?$`), "a folder, absolute or in the repository, with ~ written out", ownFolder,
	},
	"host": {
		pattern.New(`^(\*\.)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`),
		"open, none, or a host such as proxy.golang.org, *.example.com or localhost:5432", nil,
	},
	"untracked": {
		pattern.New(`^[^/\\~\x00-\x1f][^\\\x00-\x1f]*$`), "a path in the repository, such as .env or config/*.local", userFile,
	},
	"until": {
		pattern.New(`^(([01]?[0-9]|2[0-3]):[0-5][0-9]|([0-9]+(\.[0-9]+)?[hms])+)?$`),
		"a time of day such as 07:00, or how long from now: 8h, 90m", nil,
	},
	"commit": {
		pattern.New(`^[^\x00]*$`), "a message as a Go template, such as {{.Type}}({{.Epic}}): {{.Title}} ({{.ID}})", commitTemplate,
	},
	"event": {
		pattern.New(`^(ended|gated|look|question|limited|budget|stopped|deadline|not_begun)$`),
		"an event: ended, gated, look, question, limited, budget, stopped, deadline, not_begun", nil,
	},
	"address":    {pattern.New(`^https?://[^/\s]\S*$`), "an address, such as https://ntfy.sh/TOPIC", address},
	"payload":    {pattern.New(`^[^\x00]*$`), "a Go template, such as {{.Message}}", payload},
	"permission": {pattern.New(`^([A-Za-z][A-Za-z0-9_-]*)?$`), "one word, such as acceptEdits", nil},
}

// fields are all settings.
//
//nolint:gochecknoglobals // a table
var fields = fieldsOf(reflect.TypeFor[Config](), "")

// fieldsOf returns the settings in a part of Config.
func fieldsOf(t reflect.Type, prefix string) (list []field) {
	for in := range t.Fields() {
		key := prefix + strings.TrimPrefix(in.Tag.Get("key"), ",squash")
		switch kind := in.Type.Kind(); {
		case key == pricesKey:
			list = append(list, field{key: key, kind: prices})
		case kind == reflect.Struct:
			list = append(list, fieldsOf(in.Type, section(key))...)
		case kind == reflect.Map:
			list = append(list, fieldsOf(in.Type.Elem(), key+".*.")...)
		case key != prefix:
			list = append(list, fieldAs(key, in))
		}
	}
	return list
}

// section returns what the keys of a section begin with. The settings of Budget stand in the section around it.
func section(key string) string {
	if key == "" || strings.HasSuffix(key, ".") {
		return key
	}
	return key + "."
}

// fieldAs returns the setting that a field of Config holds.
func fieldAs(key string, in reflect.StructField) field {
	f := field{key: key, kind: kinds[in.Type.Kind()], fallback: in.Tag.Get("else"), grants: in.Tag.Get("grants") != ""}
	switch only := in.Tag.Get("only"); only {
	case "":
	case "CLI":
		f.only = slices.DeleteFunc(slices.Clone(agentTypes), func(t string) bool { return t == "command" || t == "scripted" })
	default:
		f.only = strings.Split(only, "|")
	}
	is := in.Tag.Get("is")
	switch {
	case in.Type == reflect.TypeFor[time.Duration]():
		f.kind, f.unit = span, time.Second
		if strings.HasSuffix(key, "_minutes") {
			f.unit = time.Minute
		}
	case is == "type":
		f.words = agentTypes
	case strings.Contains(is, "|"):
		f.words = strings.Split(is, "|")
	default:
		f.form, f.hidden = forms[is], slices.Contains([]string{"pass", "address", "private"}, is)
	}
	if low, high, ok := strings.Cut(is, " "); ok {
		f.min, _ = strconv.ParseFloat(low, 64)
		f.max, _ = strconv.ParseFloat(high, 64)
	}
	return f
}

var kinds = map[reflect.Kind]kind{
	reflect.String: text, reflect.Int: integer, reflect.Int64: integer, reflect.Float64: decimal, reflect.Bool: boolean, reflect.Slice: list,
}

// agentTypes are the types of agents, as the schema lists them.
//
//nolint:gochecknoglobals // a table
var agentTypes = typesOf(configSchema)

// typesOf finds the enum behind its description, as to decode the whole schema takes longer than to read a configuration. A test
// compares both.
func typesOf(schema []byte) (types []string) {
	_, rest, _ := bytes.Cut(schema, []byte(`"Kind of program."`))
	_, rest, _ = bytes.Cut(rest, []byte("["))
	list, _, _ := bytes.Cut(rest, []byte("]"))
	_ = json.Unmarshal(fmt.Appendf(nil, "[%s]", list), &types)
	return types
}

// Sections of entries that have names.
const (
	agentsKey = "relay.agents"
	notifyKey = "relay.notify"

	sandboxKey = "relay.sandbox"
	networkKey = "relay.sandbox_network."
)

// Words of a list of hosts.
const openHosts, noHosts = "open", "none"

// ours are the variables relay sets for agents and scripts. They are no settings, even where one has the same name
// (RELAY_DIR, relay.dir): relay may run inside an agent that relay started.
var ours = []string{"RELAY_ATTEMPT", "RELAY_TASK", "RELAY_EPIC", "RELAY_RESULT", "RELAY_DIR", "RELAY_FAIL"}

// fieldOf finds the setting with a dotted key; any name stands for an agent.
func fieldOf(key string) (*field, bool) {
	general := general(key)
	for i := range fields {
		if fields[i].key == general {
			return &fields[i], true
		}
	}
	return nil, false
}

// general replaces the name of an agent or a receiver in a key by "*".
func general(key string) string {
	section, name, ok := named(key)
	if !ok {
		return key
	}
	return section + ".*" + strings.TrimPrefix(key, section+"."+name)
}

// named returns the section and the name of the agent or receiver that a key belongs to.
func named(key string) (section, name string, ok bool) {
	for _, section := range []string{agentsKey, notifyKey} {
		if rest, ok := strings.CutPrefix(key, section+"."); ok {
			name, _, _ := strings.Cut(rest, ".")
			return section, name, true
		}
	}
	return "", "", false
}

// below lists the words that may follow a key; "*" stands for any name. It is empty when key is not a section.
func below(key string) []string {
	var words []string
	for _, f := range fields {
		rest, ok := strings.CutPrefix(f.key, general(key)+".")
		if !ok {
			continue
		}
		word, _, _ := strings.Cut(rest, ".")
		if len(words) == 0 || words[len(words)-1] != word {
			words = append(words, word)
		}
	}
	return words
}

// variable returns the environment variable of a setting, or "" when it has none.
func variable(key string) string {
	name := "RELAY_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(strings.TrimPrefix(key, "relay.")))
	if slices.Contains(ours, name) {
		return ""
	}
	return name
}

// localFolder complains of a path that leaves the repository on any system.
func localFolder(path string) string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	deep := false
	for _, part := range parts {
		if part == ".." || strings.Contains(part, ":") {
			return "leads outside the repository"
		}
		deep = deep || part != "."
	}
	if !deep {
		return "is the repository itself"
	}
	return ""
}

// userFile complains of a path or glob that no file of the user's in the repository can have.
func userFile(path string) string {
	if inGit(path) {
		return "belongs to git"
	}
	if !doublestar.ValidatePattern(path) {
		return "is not a glob: * stands for any name, ** for any folders, [ab] and {a,b} for one of them"
	}
	return localFolder(path)
}

// ownFolder complains of a path that is the repository itself or one above it, or that is git's.
func ownFolder(path string) string {
	switch {
	case path == "":
		return ""
	case strings.Trim(path, `./\`) == "":
		return "holds more than worktrees"
	case inGit(path):
		return "belongs to git"
	}
	return ""
}

func inGit(path string) bool {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.ContainsFunc(parts, func(part string) bool { return strings.EqualFold(part, ".git") })
}

// commitTemplate complains of a template that makes no commit message of every task.
func commitTemplate(template string) string {
	if err := plaintext.CheckMessage(template); err != nil {
		return "is not a template of a commit message: " + err.Error()
	}
	return ""
}

// address complains of an address without a host.
func address(text string) string {
	if at, err := url.Parse(text); err != nil || at.Host == "" {
		return "is not an address, such as https://ntfy.sh/TOPIC"
	}
	return ""
}

// payload complains of a template that does not work for every notification.
func payload(template string) string {
	for _, n := range []plaintext.Notification{{}, {Task: "T1", Folded: 1, Earlier: []string{"text"}}} {
		if _, err := n.Render(template); err != nil {
			return "is not a template of a notification: " + err.Error()
		}
	}
	return ""
}

// notOurs complains of an env entry for a variable that relay sets itself.
func notOurs(entry string) string {
	name, _, _ := strings.Cut(entry, "=")
	if slices.Contains(ours, name) {
		return "is set by relay itself"
	}
	return ""
}
