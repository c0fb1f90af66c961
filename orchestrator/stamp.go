package orchestrator

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mostCommits bounds how many commits of one attempt relay rewrites.
const mostCommits = 2000

// stamp returns head with trailers ("Name: value") in the message of every commit of base..head; author, dates and
// trees stay, signatures do not. The same commits get the same hashes, and a head that has all trailers is returned as
// it is. What somebody else made and the attempt only took in (what has landed, the user's branch, remotes) is left
// alone.
func (t *trunk) stamp(ctx context.Context, base, head string, trailers []string) (string, error) {
	span := []string{head, "^" + base, "--not", "--remotes"}
	for _, name := range []string{t.ref(), "HEAD"} {
		commit, err := t.foreign(ctx, name)
		if err != nil {
			return "", err
		}
		if commit != "" {
			span = append(span, commit)
		}
	}
	commits, err := t.commits(ctx, span)
	if err != nil {
		return "", err
	}
	made := objects{wide: wide(head)}
	renamed := make(map[string]string)
	for _, c := range commits {
		parents := c.parents()
		for i, p := range parents {
			if now, ok := renamed[p]; ok {
				parents[i] = now
			}
		}
		message := withTrailers(c.message, trailers)
		if message == c.message && slices.Equal(parents, c.parents()) {
			continue
		}
		next := c.on(c.tree(), parents...)
		next.message = message
		renamed[c.name] = made.add(next)
	}
	if now, ok := renamed[head]; ok {
		head = now
	}
	return head, t.store(ctx, &made)
}

// foreign returns the commit of a ref whose history no attempt has made; "" when there is none, or when it is one of
// the branches tasks work on: the user may look at one.
func (t *trunk) foreign(ctx context.Context, name string) (string, error) {
	if name == "HEAD" {
		branch, err := t.repo.Branch(ctx)
		if err != nil || branch == "" || strings.HasPrefix(branch, taskBranches) {
			return "", err
		}
	}
	return t.repo.Ref(ctx, name)
}

// taskBranches is where the branches are that tasks work on.
const taskBranches = "relay-tasks/"

// named is a commit and its name.
type named struct {
	name string
	commitObject
}

// commits reads the commits of a span (arguments of rev-list), parents first.
func (t *trunk) commits(ctx context.Context, span []string) ([]named, error) {
	args := append([]string{"rev-list", "--topo-order", "--reverse", "--max-count=" + strconv.Itoa(mostCommits+1)}, span...)
	list, err := t.git(ctx, nil, append(args, "--")...)
	if err != nil || list == "" {
		return nil, err
	}
	names := strings.Split(list, "\n")
	if len(names) > mostCommits {
		return nil, fmt.Errorf("the work has more than %d commits", mostCommits)
	}
	bodies, err := t.read(ctx, names)
	if err != nil {
		return nil, err
	}
	found := make([]named, len(names))
	for i := range names {
		found[i].name = names[i]
		if found[i].commitObject, err = parseCommit(bodies[i]); err != nil {
			return nil, fmt.Errorf("commit %s: %w", names[i], err)
		}
	}
	return found, nil
}

// read returns the bytes of objects, in one process for all.
func (t *trunk) read(ctx context.Context, names []string) ([]string, error) {
	call := writing("cat-file", "--batch", "--buffer")
	call.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := t.repo.Run(ctx, call)
	if err != nil {
		return nil, err
	}
	bodies := make([]string, len(names))
	for i := range names {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		at := bytes.LastIndexByte(line, ' ')
		size, err := strconv.Atoi(string(line[at+1:]))
		if err != nil || size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("git cat-file says: %s", line)
		}
		bodies[i], out = string(rest[:size]), rest[size+1:]
	}
	return bodies, nil
}

// store writes commits into the repository. No ref leads to them yet.
func (t *trunk) store(ctx context.Context, made *objects) error {
	if len(made.bodies) == 0 {
		return nil
	}
	pack, err := made.pack()
	if err == nil {
		_, err = t.git(ctx, bytes.NewReader(pack), "unpack-objects", "-q")
	}
	return err
}

// wide reports whether a hash is a SHA-256.
func wide(hash string) bool { return len(hash) == 64 }

// withTrailers adds what is missing of trailers to a commit's message: to the trailers that stand at its end, as git
// tells them from text, or as a paragraph of their own.
func withTrailers(message string, trailers []string) string {
	end := len(message)
	for end > 0 {
		start := strings.LastIndexByte(message[:end-1], '\n') + 1
		if !blank(message[start:end]) {
			break
		}
		end = start
	}
	body := message[:end]
	if body == "" {
		body = "(no message)" // else the trailers would be the title
	}
	if !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	block := trailerBlock(body)
	if block == nil {
		return body + "\n" + strings.Join(trailers, "\n") + "\n"
	}
	added := false
	for _, trailer := range trailers {
		if !slices.Contains(block, trailer) {
			body, added = body+trailer+"\n", true
		}
	}
	if !added {
		return message
	}
	return body
}

// trailerBlock returns the lines of the last paragraph when they are trailers: when all are, or a quarter and one of
// them is git's own. The title never is one.
func trailerBlock(body string) []string {
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	start := len(lines)
	for start > 0 && !blank(lines[start-1]) {
		start--
	}
	if blank(strings.Join(lines[:start], "")) {
		return nil // the title
	}
	block := lines[start:]
	trailers, others, continued, gits := 0, 0, 0, false
	for _, line := range slices.Backward(block) {
		switch {
		case strings.HasPrefix(line, "Signed-off-by: "), strings.HasPrefix(line, "(cherry picked from commit "):
			trailers, continued, gits = trailers+1, 0, true
		case isTrailer(line):
			trailers, continued = trailers+1, 0
		case line[0] == ' ' || line[0] == '\t':
			continued++
		default:
			others, continued = others+continued+1, 0
		}
	}
	others += continued
	if gits && trailers*3 >= others || trailers > 0 && others == 0 {
		return unfolded(block)
	}
	return nil
}

// blank reports whether git takes a line for an empty one.
func blank(line string) bool { return strings.Trim(line, " \t\r\n") == "" }

// isTrailer reports whether a line is a name of letters, digits and dashes, a colon, and a value.
func isTrailer(line string) bool {
	name, _, ok := strings.Cut(line, ":")
	name = strings.TrimRight(name, " \t")
	return ok && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// unfolded returns trailers with their continuation lines, without the blanks at their ends.
func unfolded(lines []string) []string {
	var out []string
	for _, line := range lines {
		line = strings.TrimRight(line, " \t\r")
		if last := len(out) - 1; last >= 0 && (line[0] == ' ' || line[0] == '\t') {
			out[last] += line
			continue
		}
		out = append(out, line)
	}
	return out
}
