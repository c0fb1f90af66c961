package orchestrator

import (
	"regexp"
	"slices"
	"strings"

	"relay/attempts"
)

// redactor keeps the values of secret-looking environment variables out of everything that is recorded or shown.
type redactor struct{ replace *strings.Replacer }

// secretName matches the names of variables whose values are secrets.
var secretName = regexp.MustCompile(`(?i)(key|token|secret|passw|passphrase|credential)`)

// shortestSecret is the length from which a value is taken for a secret: shorter ones would blank out common words.
const shortestSecret = 8

func newRedactor(env []string) redactor {
	var secrets []secret
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if !secretName.MatchString(name) {
			continue
		}
		for _, part := range append([]string{value}, strings.Split(value, "\n")...) { // a key in lines is told line by line
			if len(strings.TrimSpace(part)) >= shortestSecret {
				secrets = append(secrets, secret{name, strings.TrimSpace(part)})
			}
		}
	}
	// Longest first, so that a secret that contains another is replaced whole.
	slices.SortStableFunc(secrets, func(a, b secret) int { return len(b.value) - len(a.value) })
	pairs := make([]string, 0, 2*len(secrets))
	for _, s := range secrets {
		pairs = append(pairs, s.value, "[redacted "+s.name+"]")
	}
	return redactor{strings.NewReplacer(pairs...)}
}

type secret struct{ name, value string }

// Receipt strings an agent had a hand in are cut to these lengths.
const (
	lineCap = 500
	textCap = 4 << 10
	listCap = 200
)

func (r redactor) text(s string) string { return attempts.Clean(r.replace.Replace(s), textCap) }

func (r redactor) line(s string) string {
	return attempts.Clean(strings.Join(strings.Fields(r.replace.Replace(s)), " "), lineCap)
}

func (r redactor) list(in []string) []string {
	out := slices.Clone(in[:min(len(in), listCap)])
	for i := range out {
		out[i] = r.line(out[i])
	}
	return out
}

// receipt cleans every string of a receipt before it is recorded.
func (r redactor) receipt(in attempts.Receipt) attempts.Receipt {
	in.Summary, in.ErrorSummary = r.text(in.Summary), r.text(in.ErrorSummary)
	in.Findings, in.Suggestion, in.Learning = r.text(in.Findings), r.text(in.Suggestion), r.text(in.Learning)
	in.Claimed, in.DiffStat = r.line(in.Claimed), r.text(in.DiffStat)
	in.FilesChanged, in.PatternTags = r.list(in.FilesChanged), r.list(in.PatternTags)
	in.Checks = slices.Clone(in.Checks)
	for i := range in.Checks {
		in.Checks[i].Name, in.Checks[i].Tail = r.line(in.Checks[i].Name), r.text(in.Checks[i].Tail)
	}
	return in
}
