package epic

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// errPlace means that no place for more tasks was found.
var errPlace = errors.New("its tasks are written in a way that relay cannot add to: write each on lines of its own, below the key tasks")

// Append returns src, the text of a valid epic.yml, with more tasks behind those it has; name is what problems call the
// file. The rest of the text stays the same, comments too. The error is Problems when one of the new tasks is not valid, and
// another one when the tasks are written in a way that cannot be added to, as in braces.
func Append(name string, src []byte, tasks []Task) ([]byte, error) {
	old, err := Read(name, src)
	if err != nil || len(tasks) == 0 {
		return src, err
	}
	out, err := insertTasks(src, tasks)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	now, err := Read(name, out)
	if err != nil {
		return nil, err
	}
	if !grown(old, now, len(tasks)) {
		return nil, fmt.Errorf("%s: %w", name, errPlace)
	}
	return out, nil
}

// grown reports whether now is old with so many more tasks.
func grown(old, now *Epic, more int) bool {
	if len(now.Tasks) != len(old.Tasks)+more {
		return false
	}
	before, after := *old, *now
	before.Tasks, after.Tasks = nil, nil
	if !reflect.DeepEqual(before, after) {
		return false
	}
	for i, t := range old.Tasks {
		t.Line = now.Tasks[i].Line
		if !reflect.DeepEqual(t, now.Tasks[i]) {
			return false
		}
	}
	return true
}

// insertTasks writes tasks behind the last line of those there are.
func insertTasks(src []byte, tasks []Task) ([]byte, error) {
	doc, _, err := parseYAML(src)
	if err != nil {
		return nil, err
	}
	pairs := doc.Content[0].Content
	at := slices.IndexFunc(pairs, func(n *yaml.Node) bool { return n.Value == "tasks" })
	if at < 0 {
		return nil, errPlace
	}
	there := pairs[at+1]
	if there.Kind != yaml.MappingNode || there.Style&yaml.FlowStyle != 0 || len(there.Content) == 0 {
		return nil, errPlace
	}
	lines := bytes.SplitAfter(src, []byte("\n"))
	end := len(lines)
	if at+2 < len(pairs) {
		end = pairs[at+2].Line - 1
	}
	for end > 0 && idle(lines[end-1]) {
		end--
	}
	var out bytes.Buffer
	out.Write(bytes.Join(lines[:end], nil))
	if !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
		out.WriteByte('\n')
	}
	text, err := EncodeNode(tasksNode(tasks))
	if err != nil {
		return nil, fmt.Errorf("encode tasks: %w", err)
	}
	newline := "\n"
	if bytes.HasSuffix(lines[0], []byte("\r\n")) { // else an editor takes the file for one of two kinds
		newline = "\r\n"
	}
	for line := range strings.Lines(string(text)) {
		if len(line) > 1 {
			out.WriteString(strings.Repeat(" ", there.Content[0].Column-1))
		}
		out.WriteString(strings.TrimSuffix(line, "\n") + newline)
	}
	out.Write(bytes.Join(lines[end:], nil))
	return out.Bytes(), nil
}

// idle reports whether a line belongs to no task: it is empty, a comment at the margin, or the end of the document.
func idle(line []byte) bool {
	text := bytes.TrimRight(line, " \t\r\n")
	return len(text) == 0 || text[0] == '#' || string(text) == "..."
}
