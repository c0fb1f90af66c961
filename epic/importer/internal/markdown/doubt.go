package markdown

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"relay/epic/blueprint/names"
	"relay/epic/each"
	"relay/epic/pattern"
)

// notWork matches headings of sections whose boxes may be checks of other tasks, states of the whole, or wishes.
var notWork = pattern.New(`(?i)^[^\pL\d]*(?:[\d.]+\W+)?(?:[\w-]+ )?(?:(?:tests?|testing|qa|manual|smoke|release|launch) (?:check ?list|cases)|smoke tests?|verif\w*|criteria|acceptance|gates?|ideas?|maybe|someday|wish ?list|icebox|parking lot|on hold|(?:do not|don't|not|won't) (?:\w+ )?(?:start|do|yet|planned)|milestones|metrics)\b|验收|验证|测试清单|里程碑|테스트 ?체크|검증|検証|テスト項目|チェックリスト|abnahme|vérif|провер`)

// Doubt returns a line of a section of a checklist that may be meant otherwise than it is read, and why: boxes are tasks, those below them
// are criteria, and other lines are text. The line is 0 for a plain section. The rest are the lines that no box holds; above are the
// headings that the section is below. The whole checklist has so many open boxes; without any, items are read as boxes.
func (s Section) Doubt(boxes []Entry, rest []Line, above []string, all int) (line int, why string) {
	top := 0
	for i, e := range boxes {
		switch {
		case e.Line.Indent <= boxes[top].Line.Indent:
			top = i
		case boxes[top].Line.Done() && !e.Line.Done():
			return e.Line.N, "this box is open below one that is ticked, and is taken for a task"
		}
	}
	points := each.Where(rest, func(l Line) (Line, bool) {
		row := strings.HasPrefix(l.Text, "|") && rowID.MatchString(names.Cells(l.Text)[0])
		return l, l.Kind == Item && l.Indent < 2 || row
	})
	numbered := slices.ContainsFunc(points, func(l Line) bool { return l.Numbered })
	open := slices.IndexFunc(boxes, func(e Entry) bool { return !e.Line.Done() })
	switch {
	case len(points) > 1 && (numbered || 4*len(points) >= cmp.Or(all, math.MaxInt)): // else they are notes
		return points[0].N, fmt.Sprintf("%d lines from here on have no boxes, and are not tasks", len(points))
	case open >= 0 && (slices.ContainsFunc(above, notWork.MatchString) || all == 0 && s.Heading.N > 0):
		return boxes[open].Line.N, "what is below " + Clip(Unformatted(s.Heading.Rest), 60) + " is taken for tasks"
	}
	return 0, ""
}
