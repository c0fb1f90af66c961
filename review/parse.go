package review

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// Parse reads a reviewer's answer: a JSON object as Schema describes it (the whole answer, or within its text). Anything
// else is an error that wraps ErrNoVerdict: nothing, a message about a limit, an apology, an unfinished answer, an
// unknown word for the decision, or an approval that something else in the answer contradicts. An answer that costs too
// much to read holds no verdict either.
func Parse(answer string) (Verdict, error) {
	answer = strings.TrimSpace(answer)
	switch {
	case answer == "":
		return Verdict{}, noVerdict("the answer is empty")
	case len(answer) > maxAnswer:
		return Verdict{}, noVerdict("the answer is longer than %d bytes", maxAnswer)
	}
	if answer[0] == '{' {
		if fields, length := leadingObject(answer); fields != nil && length == len(answer) {
			return fromObject(fields)
		}
	}
	objects, rest, err := embedded(answer)
	if err != nil {
		return Verdict{}, err
	}
	if v, refuses := refusalAtEnd(objects, answer); refuses {
		return v, nil
	}
	return agree(objects, rest)
}

// refusalAtEnd reads the object that the answer ends with, as reviewers are asked to end. If it refuses the change, it
// is the verdict whatever stands before it: reviewers quote what they read, verdicts as well.
func refusalAtEnd(objects []object, answer string) (Verdict, bool) {
	if len(objects) == 0 {
		return Verdict{}, false
	}
	last := objects[len(objects)-1]
	if strings.Trim(answer[last.end:], "`~ \t\r\n") != "" { // more than the end of a code block
		return Verdict{}, false
	}
	v, err := fromObject(last.fields)
	return v, err == nil && v.Decision != Approved
}

// verdictLine matches a line that states a verdict, or a heading for one with the line below it.
var verdictLine = pattern.New(`(?im)^[#*\- ]*(?:overall |final )?verdict[* ]*(?::|$)\s*(\S.*)$`)

// agree returns the verdict of the objects in an answer. It fails when they differ, or the rest of the answer states another one.
func agree(objects []object, rest string) (v Verdict, err error) {
	for _, o := range objects {
		next, err := fromObject(o.fields)
		if err != nil {
			return Verdict{}, err
		}
		if v.Decision != "" && v.Decision != next.Decision {
			return Verdict{}, noVerdict("the answer says both %s and %s", v.Decision, next.Decision)
		}
		v = next
	}
	if v.Decision == "" {
		return Verdict{}, noVerdict("the answer has no verdict")
	}
	for _, m := range verdictLine.FindAllStringSubmatch(rest, -1) {
		if stated, _ := decisionOf(m[1]); stated != v.Decision { // also in other words: do not merge this
			return Verdict{}, noVerdict("the answer says both %s and %s", v.Decision, line(m[1]))
		}
	}
	return v, nil
}

func noVerdict(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNoVerdict, fmt.Sprintf(format, args...))
}

// maxDecoded bounds how many bytes of an answer are decoded, counting again what is read again: within nested braces
// that are no JSON, each brace can cost as much as the whole answer.
const maxDecoded = 16 * maxAnswer

// object is a JSON object within an answer; end is the place behind it.
type object struct {
	fields map[string]json.RawMessage
	end    int
}

// embedded finds the verdict objects within an answer, and returns the text around them. Within text, an object counts
// only with its findings: a reviewer quotes code, and code can hold anything. The whole answer is read or none of it: an
// answer with more than maxDecoded bytes to decode has no verdict.
func embedded(answer string) (objects []object, rest string, err error) {
	var text strings.Builder
	done, left := 0, maxDecoded
	for pos := 0; ; {
		i := strings.IndexByte(answer[pos:], '{')
		if i < 0 {
			break
		}
		pos += i
		if !opensObject(answer[pos+1:]) {
			pos++
			continue
		}
		fields, length := leadingObject(answer[pos:])
		if left -= length; left < 0 {
			return nil, "", noVerdict("the answer has too many braces to be read")
		}
		if fields == nil {
			pos++
			continue
		}
		end := pos + length
		if fields["verdict"] != nil && fields["findings"] != nil {
			objects = append(objects, object{fields, end})
			text.WriteString(answer[done:pos])
			done = end
		}
		pos = end
	}
	text.WriteString(answer[done:])
	return objects, text.String(), nil
}

// opensObject reports whether a JSON object can go on like that after its brace.
func opensObject(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	return rest != "" && (rest[0] == '"' || rest[0] == '}')
}

// leadingObject decodes the JSON object that a text begins with. It returns nil if there is none.
func leadingObject(text string) (fields map[string]json.RawMessage, length int) {
	dec := json.NewDecoder(strings.NewReader(text))
	if dec.Decode(&fields) != nil {
		return nil, len(text)
	}
	return fields, int(dec.InputOffset())
}

// answerFinding is a finding as reviewers write it: some number their lines with text, some call the issue otherwise.
type answerFinding struct {
	Severity    string          `json:"severity"`
	File        string          `json:"file"`
	Line        json.RawMessage `json:"line"`
	Issue       string          `json:"issue"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Message     string          `json:"message"`
	Fix         string          `json:"fix"`
	Suggestion  string          `json:"suggestion"`
	Criterion   string          `json:"criterion"`
}

func fromObject(object map[string]json.RawMessage) (Verdict, error) {
	var word, summary string
	if json.Unmarshal(object["verdict"], &word) != nil {
		return Verdict{}, noVerdict("the answer has no text \"verdict\"")
	}
	d, ok := decisionOf(word)
	if !ok {
		return Verdict{}, noVerdict("%q is not a verdict", cut(line(word), 60))
	}
	if raw := object["summary"]; raw != nil && json.Unmarshal(raw, &summary) != nil {
		summary = ""
	}
	var found []answerFinding
	if raw := object["findings"]; raw != nil {
		if err := json.Unmarshal(raw, &found); err != nil {
			return Verdict{}, noVerdict("the findings are no list of objects")
		}
	}
	v := Verdict{Decision: d, Summary: line(summary)}
	for _, f := range found {
		v.Findings = append(v.Findings, Finding{
			Severity:  severityOf(f.Severity),
			File:      f.File,
			Line:      lineNumber(f.Line),
			Issue:     plaintext.FirstOf(f.Issue, f.Title, f.Description, f.Message),
			Fix:       plaintext.FirstOf(f.Fix, f.Suggestion),
			Criterion: f.Criterion,
		})
	}
	v.Findings, v.Criteria = finish(v.Findings), marks(object["criteria"])
	return v, nil
}

// marks reads what the answer says of the criteria. One that is not in the form we asked for says nothing: it is not
// worth a verdict.
func marks(raw json.RawMessage) []Mark {
	var list []struct {
		Criterion json.RawMessage `json:"criterion"`
		Met       *bool           `json:"met"`
		Evidence  string          `json:"evidence"`
	}
	if raw == nil || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var found []Mark
	for _, m := range list[:min(len(list), maxFindings)] {
		if name := strings.Trim(string(m.Criterion), `" `); m.Met != nil && name != "" {
			found = append(found, Mark{Criterion: line(name), Met: *m.Met, Evidence: line(m.Evidence)})
		}
	}
	return found
}

// lineNumber reads 15, "15" and "15-20"; anything else is 0.
func lineNumber(raw json.RawMessage) int {
	text := string(bytes.Trim(raw, `" `))
	text, _, _ = strings.Cut(text, "-")
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return 0
	}
	return max(0, n)
}

// finish cleans findings, takes a line number out of a file's name, and keeps the gravest when there are too many.
func finish(findings []Finding) []Finding {
	for i := range findings {
		f := &findings[i]
		f.File, f.Issue, f.Fix, f.Criterion = line(f.File), line(f.Issue), line(f.Fix), line(f.Criterion)
		f.Issue = cmp.Or(f.Issue, "(the reviewer did not say what)")
		if name, number, ok := cutLine(f.File); ok {
			f.File = name
			f.Line = cmp.Or(f.Line, number)
		}
	}
	if len(findings) > maxFindings {
		slices.SortStableFunc(findings, func(a, b Finding) int { return a.Severity.rank() - b.Severity.rank() })
		findings = findings[:maxFindings]
	}
	return findings
}

// cutLine splits "app/user.rb:15", also "…:15-20" and "…:15:3".
func cutLine(file string) (name string, number int, ok bool) {
	name, rest, found := strings.Cut(file, ":")
	if !found || name == "" {
		return "", 0, false
	}
	rest, _, _ = strings.Cut(rest, ":")
	number = lineNumber(json.RawMessage(rest))
	return name, number, number > 0
}
