package epic

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// errPlace means that no place for more tasks was found.
var errPlace = errors.New("no place for more tasks is to be seen in it")

// Append returns src, the text of a valid epic.yml, with more tasks behind those it has; name is what problems call the
// file. The rest of the text stays as it is, comments too; only where the tasks are written in a way that cannot be
// added to is the whole file written anew. What comes of it is read again: old tasks never change. The error is Problems
// when one of the new tasks is not valid.
func Append(name string, src []byte, tasks []Task) ([]byte, error) {
	old, err := Read(name, src)
	if err != nil || len(tasks) == 0 {
		return src, err
	}
	for _, add := range []func([]byte, []Task) ([]byte, error){insertTasks, encodeTasks} {
		out, failed := add(src, tasks)
		if failed != nil {
			err = fmt.Errorf("%s: %w", name, failed)
			continue
		}
		now, failed := Read(name, out)
		if failed == nil && grown(old, now, len(tasks)) {
			return out, nil
		}
		if _, ok := errors.AsType[Problems](failed); !ok {
			failed = fmt.Errorf("%s: %w", name, errPlace)
		}
		err = failed
	}
	return nil, err
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

// tasksOf finds the tasks of a document, and the key that stands behind them, if one does.
func tasksOf(src []byte) (doc yaml.Node, tasks, next *yaml.Node, err error) {
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return doc, nil, nil, err
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return doc, nil, nil, errPlace
	}
	pairs := doc.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i].Value != "tasks" {
			continue
		}
		if i+2 < len(pairs) {
			next = pairs[i+2]
		}
		return doc, pairs[i+1], next, nil
	}
	return doc, nil, nil, errPlace
}

// insertTasks writes tasks behind the last line of those there are.
func insertTasks(src []byte, tasks []Task) ([]byte, error) {
	_, there, next, err := tasksOf(src)
	if err != nil {
		return nil, err
	}
	if there.Kind != yaml.MappingNode || there.Style&yaml.FlowStyle != 0 || len(there.Content) == 0 {
		return nil, errPlace
	}
	lines := bytes.SplitAfter(src, []byte("\n"))
	end := len(lines)
	if next != nil {
		end = next.Line - 1
	}
	for end > 0 && idle(lines[end-1]) {
		end--
	}
	var out bytes.Buffer
	for _, l := range lines[:end] {
		out.Write(l)
	}
	if !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
		out.WriteByte('\n')
	}
	var text bytes.Buffer
	if err := encode(&text, tasksNode(tasks), strings.Repeat(" ", there.Content[0].Column-1)); err != nil {
		return nil, err
	}
	if bytes.HasSuffix(lines[0], []byte("\r\n")) { // else an editor takes the file for one of two kinds
		out.Write(bytes.ReplaceAll(text.Bytes(), []byte("\n"), []byte("\r\n")))
	} else {
		out.Write(text.Bytes())
	}
	for _, l := range lines[end:] {
		out.Write(l)
	}
	return out.Bytes(), nil
}

// idle reports whether a line belongs to no task: it is empty, a comment at the margin, or the end of the document.
func idle(line []byte) bool {
	text := bytes.TrimRight(line, " \t\r\n")
	return len(text) == 0 || text[0] == '#' || string(text) == "..."
}

// encodeTasks adds tasks to the tree of the document and writes that.
func encodeTasks(src []byte, tasks []Task) ([]byte, error) {
	doc, there, _, err := tasksOf(src)
	if err != nil {
		return nil, err
	}
	if there.Kind != yaml.MappingNode {
		return nil, errPlace
	}
	there.Style = 0
	there.Content = append(there.Content, tasksNode(tasks).Content...)
	return EncodeNode(&doc)
}
