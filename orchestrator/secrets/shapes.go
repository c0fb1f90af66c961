package secrets

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"relay/epic/pattern"
)

// loose are rules that are wrong too often in what agents write: they take names in code, base64 or the hash of a
// commit for a secret. If only one half of a rule is wrong, further has the other one.
var loose = []string{"generic-api-key", "kubernetes-secret-yaml", "sourcegraph-access-token", "square-access-token", "vault-service-token"}

// further are shapes that the rules lack and that agents' own machines have.
var further = []shape{
	{ID: "model-api-key", Regex: `\b(sk-(?:ant|or|proj|svcacct|admin)-[A-Za-z0-9_-]{20,})`, Entropy: 3.5, Keywords: []string{"sk-ant-", "sk-or-", "sk-proj-", "sk-svcacct-", "sk-admin-"}},
	{ID: "square-access-token", Regex: `\b(sq0atp-[\w-]{22,60})`, Keywords: []string{"sq0atp-"}},
	{ID: "vault-service-token", Regex: `\b(hvs\.[\w-]{90,120})`, Keywords: []string{"hvs."}},
	{ID: "sourcegraph-access-token", Regex: `\b(sgp_[A-Za-z0-9_]{40,})`, Keywords: []string{"sgp_"}},
	// A key of which only the beginning or the end is there.
	{ID: "private-key", Regex: `-----BEGIN[ A-Z0-9]{0,50}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\s\\:,-]{24,}`, Keywords: []string{"private key"}},
	{ID: "private-key", Regex: `[A-Za-z0-9+/=\s\\]{24,}-----END[ A-Z0-9]{0,50}PRIVATE KEY(?: BLOCK)?-----`, Keywords: []string{"private key"}},
}

// The rules want one of these behind a secret; in prose a full stop, a comma or a bracket may follow, too.
const (
	strictEnd = "(?:[\\x60'\"\\s;]|\\\\[nr]|$)"
	proseEnd  = "(?:[^0-9A-Za-z_-]|$)"
)

// escapes match the characters around a token in JSON, in a URL and on a terminal whose letters do not belong to a word.
var escapes = pattern.New(`\\[nrt]|\\u[0-9a-fA-F]{4}(?:\[[0-9;]*m)?|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]*[A-Za-z]`)

// shapes finds what looks like a token.
func shapes(s string) []span {
	set := known()
	named := set.named(s)
	if len(named) == 0 {
		return nil
	}
	if strings.ContainsAny(s, "\\%\x1b") {
		s = escapes.ReplaceAllStringFunc(s, func(e string) string { return strings.Repeat(" ", len(e)) })
	}
	var spans []span
	for _, i := range named {
		r := &set.rules[i]
		for _, m := range r.expression().FindAllStringSubmatchIndex(s, -1) {
			from, to := r.secret(m)
			if from < to && r.serious(s[m[0]:m[1]], s[from:to]) {
				spans = append(spans, span{from, to, r.ID})
			}
		}
	}
	return spans
}

// secret returns where in a match the secret is: the group the rule names, else the first that holds anything, else all.
func (r *rule) secret(m []int) (from, to int) {
	if g := 2 * r.SecretGroup; g > 0 && g < len(m) {
		return m[g], m[g+1]
	}
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 && m[g] < m[g+1] {
			return m[g], m[g+1]
		}
	}
	return m[0], m[1]
}

// serious reports whether a match is more than an example or a name.
func (r *rule) serious(match, secret string) bool {
	if r.Entropy > 0 && entropy(secret) <= r.Entropy {
		return false
	}
	for _, a := range r.Allowlists {
		if len(a.Paths) > 0 || a.RegexTarget == "line" {
			continue // neither is known here
		}
		target := secret
		if a.RegexTarget == "match" {
			target = match
		}
		for _, expression := range a.Regexes {
			if ok, err := regexp.MatchString(expression, target); err == nil && ok {
				return false
			}
		}
		lower := strings.ToLower(secret)
		if slices.ContainsFunc(a.StopWords, func(w string) bool { return strings.Contains(lower, strings.ToLower(w)) }) {
			return false
		}
	}
	return true
}

// entropy is Shannon's, in bits for each byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
