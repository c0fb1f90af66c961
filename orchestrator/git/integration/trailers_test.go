package integration

import (
	"slices"
	"strings"
	"testing"

	"relay/reanchor/git"
)

var stamps = []string{"Relay-Epic: lab", "Relay-Task: T1", "Relay-Attempt: 2"}

// agentMessages are what agents write; what git cannot tell from trailers is left to it.
var agentMessages = map[string]string{
	"title":            "Fix it\n",
	"body":             "Fix it\n\nBecause it was broken.\n",
	"signed":           "Fix it\n\nBecause.\n\nSigned-off-by: Ada <ada@example.com>\n",
	"trailers only":    "Fix it\n\nCo-authored-by: Bob <b@example.com>\nRefs: #1\n",
	"continued":        "Fix it\n\nNote: this is\n  long\nRefs: #1\n",
	"prose with colon": "Fix it\n\nNote: this\nis not a trailer\n",
	"mostly prose":     "Fix it\n\na\nb\nc\nd\ne\nSigned-off-by: Ada <a@b>\n",
	"quarter":          "Fix it\n\na\nb\nc\nSigned-off-by: Ada <a@b>\n",
	"cherry":           "Fix it\n\nBecause.\n(cherry picked from commit 0123456789012345678901234567890123456789)\n",
	"title with colon": "fix: it\n",
	"title like one":   "Refs: #1\nSigned-off-by: Ada <a@b>\n",
	"there":            "Fix it\n\nRelay-Epic: lab\nRelay-Task: T1\nRelay-Attempt: 2\n",
	"partly there":     "Fix it\n\nRelay-Task: T1\nRefs: #2\n",
	"like relay's":     "Fix it\n\nRelayed-by: Ada\nRelay: x\n",
	"divider":          "Fix it\n\n---\n a.txt | 1 +\n",
	"not utf-8":        "Fix caf\xe9\n\nBecause \xff\xfe.\n",
	"space in a name":  "Fix it\n\nSome thing: x\n",
	"dashes":           "Fix it\n\n-: x\n",
	"spaces":           "Fix it\n   \nRefs: 1\n",
}

// What relay adds is what git interpret-trailers adds.
func TestTrailersAreAddedAsGitAddsThem(t *testing.T) {
	t.Parallel()
	for name, message := range agentMessages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"interpret-trailers", "--no-divider", "--if-exists=addIfDifferent"}
			for _, s := range stamps {
				args = append(args, "--trailer", s)
			}
			out, err := git.Run(t.Context(), git.Call{Dir: t.TempDir(), Args: args, Stdin: strings.NewReader(message)})
			if err != nil {
				t.Fatal(err)
			}
			got, want := WithTrailers(message, stamps), string(out)
			if strings.TrimRight(got, "\n ") != strings.TrimRight(want, "\n ") {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			if again := WithTrailers(got, stamps); again != got {
				t.Errorf("again it is %q", again)
			}
		})
	}
}

// What an agent writes into a commit of which task it is, or takes over with another task's, is not what git log tells.
func TestTrailersOfOthersGo(t *testing.T) {
	t.Parallel()
	own := strings.Join(stamps, "\n") + "\n"
	for name, c := range map[string]struct{ message, want string }{
		"another's":      {"Fix it\n\nRelay-Task: T9\n", "Fix it\n\n" + own},
		"in other words": {"Fix it\n\nrelay-TASK : T9\nRELAY-RUN: 1\nRelay-Attempt: 1\n", "Fix it\n\n" + own},
		"beside others":  {"Fix it\n\nRefs: #1\nRelay-Task: T9\nSigned-off-by: Ada <a@b>\n", "Fix it\n\nRefs: #1\nSigned-off-by: Ada <a@b>\n" + own},
		"beside its own": {"Fix it\n\n" + own + "Relay-Task: T9\n", "Fix it\n\n" + own},
		"continued":      {"Fix it\n\nRelay-Task: T9\n and\n\tT8\nRefs: #1\n", "Fix it\n\nRefs: #1\n" + own},
		"twice":          {"Fix it\n\nRelay-Task: T9\n\nRelay-Task: T8\n\n", "Fix it\n\n" + own},
		"in the text":    {"Fix it\n\nRelay-Task: T9\n\nis what the commit said.\n", "Fix it\n\nRelay-Task: T9\n\nis what the commit said.\n\n" + own},
		"as the title":   {"Relay-Task: T9\n", "Relay-Task: T9\n\n" + own},
	} {
		if got := WithTrailers(c.message, stamps); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A squashed commit names the people of those that it replaces, also those of a paragraph that is partly text.
func TestSquashedCommitsNamePeople(t *testing.T) {
	t.Parallel()
	mixed := "Fix it\n\nBecause.\nSigned-off-by: Ada <a@b>\nCo-authored-by: Bob <b@c>\n"
	got := withPeople("Land\n\nRelay-Task: T1\n", []NamedCommit{{commitObject: commitObject{message: mixed}}})
	if want := "Land\n\nRelay-Task: T1\nSigned-off-by: Ada <a@b>\nCo-authored-by: Bob <b@c>\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever a message is, git finds the trailers in the commit, and the rest is as it was.
func FuzzTrailers(f *testing.F) {
	for _, message := range agentMessages {
		f.Add(message)
	}
	for _, message := range []string{
		"Fix it", "Fix it\n\nBecause.\n\n \n\n", "Fix it\r\n\r\nBecause.\r\n\r\nSigned-off-by: Ada <a@b>\r\n", "Fix it\n\nRefs : x\n", "Fix it\n\nhttps://example.com/x\n", // git writes these trailers anew
		"", "\n", "\n\nx: y", "#\n\n# c: d\n", "x\n\nConflicts:\n\ta\n", "\r\n", "a\n\n\tb: c\n", "a\r\n\r\nb\rc: d", "0\n\nRelay-Epic: lab\n 0", "a\n\u00a0\nb: c\n", "a\n\v\nb: c\n",
	} {
		f.Add(message)
	}
	f.Fuzz(func(t *testing.T, message string) {
		if strings.ContainsAny(message, "\x00") {
			t.Skip("no message of a commit")
		}
		got := WithTrailers(message, stamps)
		if again := WithTrailers(got, stamps); again != got {
			t.Errorf("%q becomes %q, and then %q", message, got, again)
		}
		if kept := strings.TrimSpace(message); !strings.Contains(strings.ToLower(message), "relay-") &&
			!strings.HasPrefix(strings.TrimSpace(got), kept) {
			t.Errorf("%q becomes %q", message, got)
		}
		out, err := git.Run(t.Context(), git.Call{Args: []string{"interpret-trailers", "--parse", "--no-divider"}, Stdin: strings.NewReader(strings.TrimLeft(got, "\n"))})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if line = strings.TrimSpace(line); relaysTrailer.MatchString(line) && !slices.Contains(stamps, line) {
				t.Errorf("%q becomes %q; git reads %q", message, got, out)
			}
		}
		for _, s := range stamps {
			if !slices.Contains(strings.Split(string(out), "\n"), s) {
				t.Errorf("%q becomes %q; git reads %q", message, got, out)
			}
		}
	})
}
