package evidence

import (
	"strconv"

	"relay/internal/lazyregexp"
)

// tolerance matches lines of a test that say how exact a result must be; finer, those of them where more is more exact;
// number, what may have been changed in them.
var (
	tolerance = lazyregexp.New(`(?i)toleran|epsilon|\beps\b|delta|approx|within|close_?to|isclose|[ar](bs)?_?tol\b|rel_tol|margin|threshold|places|precision|digits|timeout`)
	finer     = lazyregexp.New(`(?i)places|precision|digits|close_?to\s*\([^,)]*,\s*\d+\s*\)`)
	number    = lazyregexp.New(`\d+(\.\d+)?([eE][-+]?\d+)?`)
)

// toleranceDiff finds tolerances that a diff has widened: a line that is the same but for a larger number, or a smaller one
// where it counts places.
type toleranceDiff struct {
	was   map[string][]float64 // numbers of removed lines, by the line without them
	wider int
}

func (s *toleranceDiff) removed(line string) {
	if tolerance.MatchString(line) {
		if s.was == nil {
			s.was = make(map[string][]float64)
		}
		s.was[number.ReplaceAllString(line[1:], "#")] = numbers(line)
	}
}

func (s *toleranceDiff) added(line string) {
	if !tolerance.MatchString(line) {
		return
	}
	before, now := s.was[number.ReplaceAllString(line[1:], "#")], numbers(line)
	for i := range min(len(before), len(now)) {
		if before[i] == now[i] {
			continue
		}
		if wider := now[i] > before[i]; wider != finer.MatchString(line) {
			s.wider++
		}
		return
	}
}

func numbers(line string) []float64 {
	var list []float64
	for _, text := range number.FindAllString(line, -1) {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			list = append(list, v)
		}
	}
	return list
}
