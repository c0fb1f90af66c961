package configs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
)

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// readFile takes in one file. A missing file is an empty layer.
func (l *loader) readFile(path string) {
	src, err := plaintext.ReadFile(path, maxFile)
	odd, irregular := errors.AsType[*plaintext.IrregularError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case irregular:
		l.problem(position{file: path}, "is "+odd.Kind+", not a file", "")
	case err != nil:
		l.problem(position{file: path}, "cannot be read: "+err.Error(), "")
	case len(src) > maxFile:
		l.problem(position{file: path}, fmt.Sprintf("is larger than %d bytes", maxFile), "")
	default:
		l.read(src, path)
	}
}

// read takes in one YAML document.
func (l *loader) read(src []byte, name string) {
	root, err := epic.Document(name, src)
	if wrong, ok := errors.AsType[epic.Problems](err); ok {
		l.problems = append(l.problems, wrong...)
	}
	if root != nil && err == nil {
		w := walker{loader: l, file: name}
		w.top(root)
	}
}

// walker reads one file's tree against the fields.
type walker struct {
	loader *loader
	file   string
}

// sections are the keys of a file that are relay's; the others belong to other tools.
var sections = []string{"relay", "quality_gate"}

// top reads the document itself, where foreign keys are left alone.
func (w walker) top(root *yaml.Node) {
	root = epic.Follow(root)
	if root.ShortTag() == "!!null" {
		return
	}
	if root.Kind != yaml.MappingNode {
		w.loader.problem(w.at(root), "is not a map of settings", "begin with relay:")
		return
	}
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if !slices.Contains(sections, key.Value) {
			w.warnLookalike(key)
			continue
		}
		if !w.twice(seen, key) {
			w.section(key.Value, key, value)
		}
	}
}

// warnLookalike tells of a top-level key that is one of ours but for its spelling or its place. It may be another tool's.
func (w walker) warnLookalike(key *yaml.Node) {
	for _, own := range sections {
		if plainly(key.Value) == plainly(own) {
			w.loader.warnings = append(w.loader.warnings,
				fmt.Sprintf("%s:%d:%d: %q is ignored: relay reads %q", w.file, key.Line, key.Column, shorten(key.Value), own))
		}
	}
	if slices.Contains(below("relay"), key.Value) {
		w.loader.warnings = append(w.loader.warnings, fmt.Sprintf("%s:%d:%d: %q is ignored: relay reads it below relay:, as relay.%s",
			w.file, key.Line, key.Column, key.Value, key.Value))
	}
}

// section reads the map behind a dotted key.
func (w walker) section(path string, key, value *yaml.Node) {
	value = epic.Follow(value)
	if value.ShortTag() == "!!null" { // everything below is commented out
		return
	}
	if value.Kind != yaml.MappingNode {
		w.loader.problem(w.near(value, key), path+" wants settings below it, one per line as key: value", "")
		w.loader.breakNamed(path)
		return
	}
	if len(value.Content)/2 > maxKeys {
		w.loader.problem(w.near(value, key), fmt.Sprintf("%s has more than %d keys", path, maxKeys), "")
		return
	}
	keys := below(path)
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(value.Content); i += 2 {
		k, v := value.Content[i], value.Content[i+1]
		if w.twice(seen, k) || !w.isKnown(path, k, keys) {
			w.loader.breakNamed(path)
			continue
		}
		w.entry(path+"."+epic.Follow(k).Value, k, v)
	}
}

// entry reads one key: a value, or a section.
func (w walker) entry(path string, key, value *yaml.Node) {
	if why := w.personal(path, value); why != "" && w.tracked() {
		w.loader.warnings = append(w.loader.warnings, fmt.Sprintf(
			"%s:%d:%d: %s is ignored: git tracks this file, and %s; write it into %s, or into %s and have git ignore that",
			w.file, key.Line, key.Column, path, why, cmp.Or(w.loader.sources.UserFile, "your own agents.yml"), LocalFile))
		return
	}
	if section, name, ok := named(path); ok {
		if _, seen := w.loader.names[section][name]; !seen || path == section+"."+name {
			w.loader.names[section][name] = w.at(key)
		}
	}
	f, ok := fieldOf(path)
	if !ok {
		w.section(path, key, value)
		return
	}
	at := w.near(value, key)
	s := setting{key: path, origin: fmt.Sprintf("%s:%d", at.file, at.line), position: at}
	switch f.kind {
	case prices:
		s.items = w.keys(value)
	case list:
		s.items = each.Of(epic.Follow(value).Content, func(item *yaml.Node) position { return w.near(item, key) })
	default: // the others have no items
	}
	var bad []complaint
	s.value, bad = f.fromNode(value)
	w.loader.set(s, bad)
}

// personal says why a setting may not come with a repository; "" if it may.
func (w walker) personal(path string, value *yaml.Node) string {
	all := []string{"off", "auto", "require"}
	own, _ := w.loader.settings[sandboxKey].value.(string)
	switch {
	case path == notifyKey:
		return "a receiver can start programs"
	case strings.HasPrefix(path, networkKey) && w.stricter(path, value):
		return ""
	case strings.HasPrefix(path, sandboxKey+"_") && path+"." != networkKey, strings.HasSuffix(path, ".sandbox_write"),
		path == sandboxKey && slices.Index(all, epic.Follow(value).Value) < slices.Index(all, own):
		return "it may only make the sandbox stricter"
	}
	return ""
}

// stricter reports whether a list of hosts has none that the user's own files forbid.
func (w walker) stricter(path string, value *yaml.Node) bool {
	f, _ := fieldOf(path)
	given, bad := f.fromNode(value)
	list, _ := given.([]string)
	own, _ := w.loader.settings[path].value.([]string)
	allowed := Hosts(own)
	return bad != nil || allowed == nil || Hosts(list) != nil && !slices.ContainsFunc(Hosts(list), func(host string) bool {
		return !slices.Contains(allowed, host)
	})
}

// tracked reports whether the file came, or may have come, with the repository.
func (w walker) tracked() bool {
	s := w.loader.sources
	local := w.file == filepath.Join(s.Dir, LocalFile)
	return w.file == filepath.Join(s.Dir, SharedFile) || local && s.Tracked != nil && s.Tracked(w.file)
}

// isKnown complains of a key that is none of the words, unless any name will do.
func (w walker) isKnown(path string, key *yaml.Node, allowed []string) bool {
	word := epic.Follow(key).Value
	switch {
	case key.ShortTag() == "!!merge":
		w.loader.problem(w.at(key), "merge keys (<<) are not read here", "write the keys out, or use an alias for the whole value")
	case epic.Follow(key).Kind != yaml.ScalarNode:
		w.loader.problem(w.at(key), "a key must be a word", "")
	case slices.Equal(allowed, []string{"*"}):
		if forms["name"].pattern.MatchString(word) {
			return true
		}
		w.loader.problem(w.at(key), fmt.Sprintf("%s: %q is not %s", path, shorten(word), forms["name"].want), "")
	case slices.Contains(allowed, word):
		return true
	default:
		w.loader.problem(w.at(key), fmt.Sprintf("unknown key %q under %s", shorten(word), path), hintFor(word, allowed))
	}
	return false
}

// hintFor looks for the key in its own section first, then in all others.
func hintFor(word string, allowed []string) string {
	if near := nearest(word, allowed); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	for _, f := range fields {
		if last := f.key[strings.LastIndexByte(f.key, '.')+1:]; plainly(last) == plainly(word) {
			return fmt.Sprintf("did you mean %s?", f.key)
		}
	}
	return didYouMean(word, allowed)
}

// twice complains of a key that its map already has.
func (w walker) twice(seen map[string]*yaml.Node, key *yaml.Node) bool {
	word := epic.Follow(key).Value
	first, again := seen[word]
	if again {
		w.loader.problem(w.at(key), fmt.Sprintf("key %q is already on line %d", shorten(word), first.Line), "keep one of the two")
		return true
	}
	seen[word] = key
	return false
}

func (w walker) at(n *yaml.Node) position { return position{w.file, n.Line, n.Column} }

// near returns the place of a value, or of its key when the value is not written at all.
func (w walker) near(value, key *yaml.Node) position {
	if value.Line == 0 {
		return w.at(key)
	}
	return w.at(value)
}
