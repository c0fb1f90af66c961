package epic

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Encode writes the epic as epic.yml. The same epic gives the same bytes, and reading them gives the same epic, but for
// the line numbers.
func (e *Epic) Encode() ([]byte, error) {
	var out bytes.Buffer
	head := &mapping{}
	head.number("version", strconv.Itoa(e.Version))
	head.text("id", e.ID)
	head.text("source", e.Source)
	head.text("created_at", e.CreatedAt)
	head.text("title", e.Title)
	head.text("description", e.Description)
	head.list("parallelization", groupNodes(e.Groups))
	head.list("checks", checkNodes(e.Checks))
	head.list("protected", textNodes(e.Protected))
	head.text("bead", e.Bead)
	if err := encode(&out, &head.Node, ""); err != nil {
		return nil, err
	}
	out.WriteString("tasks:\n")
	for some := range slices.Chunk(e.Tasks, 64) {
		// A few tasks at a time: the nodes of them all would take many times the memory of the text.
		tasks := &mapping{}
		for i := range some {
			tasks.put(some[i].ID, taskNode(&some[i]))
		}
		if err := encode(&out, &tasks.Node, "  "); err != nil {
			return nil, err
		}
	}
	if len(e.Tasks) == 0 {
		out.Truncate(out.Len() - 1)
		out.WriteString(" {}\n")
	}
	return out.Bytes(), nil
}

// encode writes one mapping, each line behind the indent.
func encode(out *bytes.Buffer, n *yaml.Node, indent string) error {
	n.Kind = yaml.MappingNode
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return fmt.Errorf("encode epic: %w", err)
	}
	if err := enc.Close(); err != nil {
		return fmt.Errorf("encode epic: %w", err)
	}
	for line := range bytes.Lines(b.Bytes()) {
		if len(line) > 1 {
			out.WriteString(indent)
		}
		out.Write(line)
	}
	return nil
}

func taskNode(t *Task) *yaml.Node {
	m := &mapping{}
	m.text("title", t.Title)
	m.text("description", t.Description)
	if t.Kind != KindFeature {
		m.text("kind", string(t.Kind))
	}
	if t.Priority >= 0 && t.Priority < len(priorities) {
		m.text("priority", priorities[t.Priority])
	}
	if t.Points != 0 {
		m.number("points", number(t.Points))
	}
	m.list("files", textNodes(t.Files))
	m.list("depends_on", textNodes(t.DependsOn))
	m.list("acceptance_criteria", criterionNodes(t.Criteria))
	m.list("checks", checkNodes(t.Checks))
	m.list("protected", textNodes(t.Protected))
	m.text("runner", t.Runner)
	m.text("model", t.Model)
	m.minutes(t.Timeout)
	if t.MaxAttempts != 0 {
		m.number("max_attempts", strconv.Itoa(t.MaxAttempts))
	}
	if t.BudgetUSD != 0 {
		m.number("budget_usd", number(t.BudgetUSD))
	}
	if t.AllowNoChange {
		m.put("allow_no_change", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"})
	}
	m.text("source", t.Source)
	return m.node()
}

func groupNodes(groups []Group) []*yaml.Node {
	nodes := make([]*yaml.Node, 0, len(groups))
	for _, g := range groups {
		m := &mapping{}
		m.text("group", g.Name)
		m.list("tasks", textNodes(g.Tasks))
		m.list("blocked_by", textNodes(g.BlockedBy))
		nodes = append(nodes, m.node())
	}
	return nodes
}

func checkNodes(checks []Check) []*yaml.Node {
	nodes := make([]*yaml.Node, 0, len(checks))
	for _, c := range checks {
		if c.Name == c.Run && c.Timeout == 0 && c.Expect == ExpectPass {
			nodes = append(nodes, textNode(c.Run))
			continue
		}
		m := &mapping{}
		if c.Name != c.Run {
			m.text("name", c.Name)
		}
		m.text("run", c.Run)
		m.minutes(c.Timeout)
		if c.Expect != ExpectPass {
			m.text("expect", string(c.Expect))
		}
		nodes = append(nodes, m.node())
	}
	return nodes
}

func criterionNodes(criteria []Criterion) []*yaml.Node {
	nodes := make([]*yaml.Node, 0, len(criteria))
	for _, c := range criteria {
		if c.Check == "" {
			nodes = append(nodes, textNode(c.Text))
			continue
		}
		m := &mapping{}
		m.text("text", c.Text)
		m.text("check", c.Check)
		nodes = append(nodes, m.node())
	}
	return nodes
}

func textNodes(texts []string) []*yaml.Node {
	nodes := make([]*yaml.Node, len(texts))
	for i, s := range texts {
		nodes[i] = textNode(s)
	}
	return nodes
}

// mapping is a YAML mapping under construction. What is empty is left out.
type mapping struct{ yaml.Node }

func (m *mapping) node() *yaml.Node {
	m.Kind = yaml.MappingNode
	return &m.Node
}

func (m *mapping) put(key string, value *yaml.Node) {
	m.Content = append(m.Content, textNode(key), value)
}

func (m *mapping) text(key, value string) {
	if value != "" {
		m.put(key, textNode(value))
	}
}

func (m *mapping) number(key, value string) {
	m.put(key, &yaml.Node{Kind: yaml.ScalarNode, Value: value})
}

func (m *mapping) minutes(d time.Duration) {
	if d != 0 {
		m.number("timeout_minutes", number(d.Minutes()))
	}
}

func (m *mapping) list(key string, nodes []*yaml.Node) {
	if len(nodes) > 0 {
		m.put(key, &yaml.Node{Kind: yaml.SequenceNode, Content: nodes})
	}
}

// number writes a float so that YAML reads a number again: 1e+21 has no dot, which only some readers take for one.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// textNode chooses a style that gives back exactly the text.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case !strings.ContainsFunc(s, escaped) && !strings.ContainsAny(s, "\n"):
	case strings.ContainsFunc(s, escaped) || s != strings.TrimLeft(s, " \n") || strings.Contains(s, " \n") || strings.HasSuffix(s, " "):
		n.Style = yaml.DoubleQuotedStyle
	default:
		n.Style = yaml.LiteralStyle
	}
	return n
}

// escaped tells the characters that only a double-quoted scalar carries safely.
func escaped(r rune) bool {
	return r != '\n' && !unicode.IsPrint(r)
}
