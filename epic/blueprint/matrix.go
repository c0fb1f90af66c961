package blueprint

import (
	"cmp"
	"strings"

	"relay/epic"
	"relay/epic/blueprint/inline"
	"relay/epic/blueprint/names"
	"relay/epic/plaintext"
)

// groupAt is a row of the matrix: where it stands, and what it names before the names are looked up.
type groupAt struct {
	whole              epic.Place
	members, blockedBy []epic.Place
	blockers           []string
	cells              []line // with ids of tasks and perhaps their titles
}

func (g *groupAt) place(ref epic.Ref) epic.Place {
	if ref.Field == epic.FieldTasks && ref.Item < len(g.members) {
		return g.members[ref.Item]
	}
	if ref.Field == epic.FieldBlockedBy && ref.Item < len(g.blockedBy) {
		return g.blockedBy[ref.Item]
	}
	return g.whole
}

// columns says which cells of a row hold what.
type columns struct{ group, tasks, blockedBy, count int }

// readMatrix reads the parallelization matrix: a table with the columns Group and Tasks, wherever it stands. It reports false
// when the paragraph is not such a table.
func readMatrix(p *parser, b *block) bool {
	lines := b.split()
	for k := 0; k+1 < len(lines); k++ {
		if !strings.Contains(lines[k].text, "|") || !names.TableRule.MatchString(lines[k+1].text) {
			continue
		}
		cols, ok := header(cells(lines[k]))
		if !ok {
			return false
		}
		if k > 0 {
			p.content(&block{kind: paragraph, line: b.line, raw: strings.Join(strings.Split(b.raw, "\n")[:k], "\n")})
		}
		for _, row := range lines[k+2:] {
			readRow(p, row, cols)
		}
		return true
	}
	return false
}

func header(row []line) (columns, bool) {
	c := columns{group: -1, tasks: -1, blockedBy: -1, count: len(row)}
	for i, name := range row {
		switch text := strings.ToLower(inline.Plain(name.text)); {
		case strings.HasPrefix(text, "group"):
			c.group = i
		case strings.HasPrefix(text, "task"):
			c.tasks = i
		case strings.HasPrefix(text, "block"), strings.HasPrefix(text, "depend"), strings.HasPrefix(text, "after"):
			c.blockedBy = i
		}
	}
	return c, c.group >= 0 && c.tasks >= 0
}

func readRow(p *parser, row line, c columns) {
	found := cells(row)
	if len(found) > c.count {
		p.add(row.place(), `write \| for a bar inside a cell`, "the row has more cells than the table has columns")
		return
	}
	cell := func(i int) line {
		if i < 0 || i >= len(found) {
			return line{"", row.line, row.column}
		}
		return found[i]
	}
	g := groupAt{whole: cell(c.group).place(), cells: refs(cell(c.tasks))}
	for _, ref := range refs(cell(c.blockedBy)) {
		if name := inline.Plain(ref.text); !plaintext.Nothing(name) {
			g.blockers = append(g.blockers, name)
			g.blockedBy = append(g.blockedBy, ref.place())
		}
	}
	p.groups = append(p.groups, g)
	p.epic.Groups = append(p.epic.Groups, epic.Group{Name: inline.Plain(cell(c.group).text)})
}

// refs splits a cell into what it lists.
func refs(cell line) []line {
	for _, br := range []string{"<br>", "<br/>", "<br />", " & ", " + "} {
		cell.text = strings.ReplaceAll(cell.text, br, ", ")
	}
	return pieces(cell)
}

// cells splits a row at its bars. An escaped bar is text.
func cells(row line) []line {
	text := row.text
	var list []line
	r := ruler{line: row}
	begin := 0
	if strings.HasPrefix(text, "|") {
		begin = 1
	}
	add := func(to int) {
		cell := r.part(begin, to)
		cell.text = strings.ReplaceAll(cell.text, `\|`, "|")
		list = append(list, cell)
		begin = to + 1
	}
	for i := begin; i < len(text); i++ {
		if text[i] == '|' && (i == 0 || text[i-1] != '\\') {
			add(i)
		}
	}
	if begin < len(text) {
		add(len(text))
	}
	return list
}

// resolveLinks looks up the names in the matrix, now that all tasks and groups are known.
func resolveLinks(p *parser) {
	groups := map[string]string{}
	for _, g := range p.epic.Groups {
		groups[groupKey(g.Name)] = g.Name
	}
	for _, g := range p.epic.Groups { // a name as it is written comes before one like it
		groups[g.Name] = g.Name
	}
	for k := range p.groups {
		at, g := &p.groups[k], &p.epic.Groups[k]
		for _, name := range at.blockers {
			g.BlockedBy = append(g.BlockedBy, cmp.Or(groups[name], groups[groupKey(name)], name))
		}
		titled := false
		for _, ref := range at.cells {
			found := p.known.Find(ref.text)
			switch {
			case len(found) > 0:
				titled = !names.Only(ref.text)
			case plaintext.Nothing(ref.text), titled && !strings.Contains(ref.text, ":"): // the title before had a comma in it
				continue
			default:
				found = []string{names.First(inline.Plain(ref.text))}
			}
			for _, id := range found {
				if !p.gone[id] {
					g.Tasks, at.members = append(g.Tasks, id), append(at.members, ref.place())
				}
			}
		}
	}
}

// groupKey makes "Group A", "A" and "group a" one name.
func groupKey(name string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "group "))
}
