package worker

import (
	"slices"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic/slowtest"
)

// What an agent tells git for all repositories of the user's does not decide what checks see either.
func TestGlobalRulesAreTheUsers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, noted string }{
		"a filter": {
			`git config --global filter.fmt.smudge 'sed s/1/0/'; git config --global filter.fmt.clean cat; echo '*.sh filter=fmt' > .gitattributes`,
			".gitconfig",
		},
		"attributes":    {`mkdir -p ~/.config/git; echo '*.sh eol=crlf' > ~/.config/git/attributes`, ".config/git/attributes"},
		"rubbish":       {`echo '[[[' > ~/.gitconfig`, ".gitconfig"},
		"none":          {`rm ~/.gitconfig`, ".gitconfig"},
		"for people":    {`git config --global core.editor vi`, ".gitconfig"},
		"one more file": {`git config -f ~/.config/git/config core.autocrlf true 2>/dev/null || { mkdir -p ~/.config/git; git config -f ~/.config/git/config core.autocrlf true; }`, ".config/git/config"},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			l := newLab(t, "true")
			l.Write("app.sh", "exit 1\n")
			l.Write("home/.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.com\n")
			l.Write(".git/info/exclude", "/home\n")
			l.Git("add", "app.sh")
			l.Git("commit", "-q", "-m", "app")
			o := l.slotOptions()
			o.Env = slices.DeleteFunc(slices.Clone(o.Env), func(v string) bool {
				return strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "XDG_CONFIG_HOME=") || strings.HasPrefix(v, "GIT_CONFIG_GLOBAL=")
			})
			home := l.Path("home")
			o.Env = append(o.Env, "HOME="+home)
			y := l.inSlots(o)
			f := y.does("T1", c.script+"; echo 1 > one", `test "$(cat app.sh)" = "exit 1"`).Result
			want := "home/" + c.noted + ", which configures git, was changed during the attempt; relay put it back"
			if !strings.HasPrefix(texts(f.Notes), want) || f.Outcome != attempts.Success {
				t.Errorf("%s (%s): noted %q, want %q", f.Outcome, f.Receipt.ErrorSummary, texts(f.Notes), want)
			}
			y.Wants(map[string]string{"home/.gitconfig": "[user]\n\tname = Ada\n\temail = ada@example.com\n", "home/.config/git/attributes": "-"})
		})
	}
}
