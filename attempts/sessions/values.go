package sessions

import (
	"reflect"
	"strings"
)

// fieldsOf returns where the columns of a row are read to, in the order of {s}, {m}, {t} and {c} in queries.
func fieldsOf[T any](row *T) []any { return columnsIn(row).fields }

// columns are those of a row. Its fields have the names in JSON that its columns have.
type columns struct {
	names  []string // that Write fills, the id first: what it counts itself is not among them
	values []any    // of those; an empty text or 0 is NULL where JSON leaves it out
	all    []string
	fields []any // of all
}

func columnsIn(row any) (c columns) {
	of := reflect.ValueOf(row).Elem()
	n := of.NumField()
	c = columns{make([]string, 0, n), make([]any, 0, n), make([]string, 0, n), make([]any, 0, n)}
	for about, field := range of.Fields() {
		name, how, _ := strings.Cut(about.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		c.all, c.fields = append(c.all, name), append(c.fields, field.Addr().Interface())
		if name == "message_count" || name == "has_children" {
			continue
		}
		value := field.Interface()
		if how == "omitempty" && field.IsZero() {
			value = nil
		}
		c.names, c.values = append(c.names, name), append(c.values, value)
	}
	return c
}

// selected puts the columns of rows in the place of {s}, {m}, {t} and {c} in a query. NULL is read as an empty text or 0.
func selected(query string) string {
	for alias, row := range map[string]any{"s": &Session{}, "m": &Message{}, "t": &Turn{}, "c": &ToolCall{}} {
		if !strings.Contains(query, "{"+alias+"}") {
			continue
		}
		c := columnsIn(row)
		for i, name := range c.all {
			empty := "0"
			if _, text := c.fields[i].(*string); text {
				empty = "''"
			}
			c.all[i] = "coalesce(" + alias + "." + name + ", " + empty + ")"
		}
		query = strings.ReplaceAll(query, "{"+alias+"}", strings.Join(c.all, ", "))
	}
	return query
}
