package secrets

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"relay/epic/each"
	"relay/epic/pattern"
)

// secretName matches the names of variables whose values are secrets.
var secretName = pattern.New(`(?i)(key|token|secret|passw|passphrase|credential)`)

// pathName matches the names of variables that say where something is, if their value is a path.
var pathName = pattern.New(`(?i)(file|path|dir|home|sock|socket|store|ring|credentials|_key|_cert)$`)

const (
	shortest = 8  // a shorter value does not count as a secret: it would blank out common words
	unbroken = 12 // a shorter one is found in one piece only, not over the end of a line
)

// value is a secret in the forms that it is looked for in, longest first.
type value struct {
	name  string
	forms []string // squeezed
}

// valuesOf lists the secrets of an environment, longest first: one that contains another keeps its own name.
func valuesOf(env []string) []value {
	var values []value
	add := func(name, secret string) {
		if len(strings.TrimSpace(secret)) >= shortest {
			values = append(values, value{name, forms(strings.TrimSpace(secret))})
		}
	}
	for _, entry := range env {
		name, text, _ := strings.Cut(entry, "=")
		if password := passwordOf(text); password != "" {
			add(name, password)
		}
		if !secretName.MatchString(name) || pathName.MatchString(name) && isPath(text) {
			continue
		}
		add(name, text)
		if strings.Contains(strings.TrimSpace(text), "\n") { // each line of a key is one, too
			for line := range strings.SplitSeq(text, "\n") {
				if !strings.HasPrefix(line, "-----") {
					add(name, line)
				}
			}
		}
	}
	slices.SortStableFunc(values, func(a, b value) int { return len(b.forms[0]) - len(a.forms[0]) })
	return values
}

// Without returns an environment without the variables that hold a secret.
func Without(environ []string) (free []string) {
	return each.Where(environ, func(entry string) (string, bool) { return entry, len(valuesOf([]string{entry})) == 0 })
}

// passwordOf returns the password in a URL with one, as in DATABASE_URL or HTTP_PROXY.
func passwordOf(text string) string {
	if !strings.Contains(text, "://") || !strings.Contains(text, "@") {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	password, _ := u.User.Password()
	return password
}

// isPath reports whether a value names a file: that is not a secret, and many texts contain it.
func isPath(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") ||
		len(text) > 2 && text[1] == ':' && (text[2] == '\\' || text[2] == '/')
}

// forms returns the ways a value may be written: as it is, in JSON, in a URL, in base64.
func forms(secret string) []string {
	quoted, _ := json.Marshal(secret) // a string always has a form
	all := []string{
		secret, strings.Trim(string(quoted), `"`), strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(secret),
		url.QueryEscape(secret), url.PathEscape(secret),
	}
	// Base64 writes a value in three ways, by where in the encoded text it begins; what its neighbours have a part in is left out.
	for before := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), secret...))
		begin, end := (8*before+5)/6, len(encoded)
		if (before+len(secret))%3 != 0 {
			end--
		}
		if encoded = encoded[begin:end]; len(encoded) >= unbroken {
			all = append(all, encoded, strings.NewReplacer("+", "-", "/", "_").Replace(encoded))
		}
	}
	for i := range all {
		all[i] = squeeze(all[i]).text
	}
	all = slices.DeleteFunc(all, func(form string) bool { return len(form) < shortest })
	slices.Sort(all)
	all = slices.Compact(all)
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// find looks for values in a text, also where they go over the end of a line or were cut off at the text's own.
func find(s string, values []value) []span {
	if len(values) == 0 {
		return nil
	}
	q := squeeze(s)
	var spans, cut []span
	for _, v := range values {
		for _, form := range v.forms {
			for pos := 0; ; {
				i := strings.Index(q.text[pos:], form)
				if i < 0 {
					break
				}
				from, to := q.at(pos+i), q.at(pos+i+len(form)-1)+1
				if len(form) >= unbroken || to-from == len(form) || strings.Contains(v.forms[0], s[from:to]) {
					spans = append(spans, span{from, to, v.name})
				}
				pos += i + len(form)
			}
			cut = append(cut, edge(q, form, v.name)...)
		}
	}
	return append(spans, cut...) // whole values come first
}

// edge finds what is left of a value that was cut: the end of it where the text begins, and its beginning where the
// text ends. Less than half of it says too little, and may stand there for another reason.
func edge(q squeezed, form, name string) (spans []span) {
	least := max(shortest, len(form)/2)
	text := strings.TrimRight(q.text, ".…[]")
	for n := min(len(form)-1, len(text)); n >= least; n-- {
		if strings.HasSuffix(text, form[:n]) {
			spans = append(spans, span{q.at(len(text) - n), q.at(len(text)-1) + 1, name})
			break
		}
	}
	for n := min(len(form)-1, len(q.text)); n >= least; n-- {
		if strings.HasPrefix(q.text, form[len(form)-n:]) {
			return append(spans, span{q.at(0), q.at(n-1) + 1, name})
		}
	}
	return spans
}

// squeezed is a text without white space, written out or escaped.
type squeezed struct {
	text string
	gaps []gap // where something was left out; none in most words
}

// gap records that from here on, a place in the squeezed text is so many bytes further on in the whole one.
type gap struct{ from, ahead int }

// at returns the place in the whole text of one in the squeezed text.
func (q squeezed) at(i int) int {
	n, _ := slices.BinarySearchFunc(q.gaps, i+1, func(g gap, i int) int { return g.from - i })
	if n == 0 {
		return i
	}
	return i + q.gaps[n-1].ahead
}

func squeeze(s string) squeezed {
	if !strings.ContainsAny(s, " \n\t\r\\") {
		return squeezed{text: s}
	}
	var b strings.Builder
	b.Grow(len(s))
	var q squeezed
	left := 0
	for i := 0; i < len(s); i++ {
		n := blankAt(s, i)
		if n == 0 {
			b.WriteByte(s[i])
			continue
		}
		left += n
		i += n - 1
		if last := len(q.gaps) - 1; last >= 0 && q.gaps[last].from == b.Len() {
			q.gaps[last].ahead = left
		} else {
			q.gaps = append(q.gaps, gap{b.Len(), left})
		}
	}
	q.text = b.String()
	return q
}

// blankAt returns the length of the white space at a place: 0 when there is none.
func blankAt(s string, i int) int {
	switch s[i] {
	case ' ', '\n', '\t', '\r':
		return 1
	case '\\':
		if i+1 < len(s) && (s[i+1] == 'n' || s[i+1] == 'r' || s[i+1] == 't') {
			return 2
		}
	}
	return 0
}
