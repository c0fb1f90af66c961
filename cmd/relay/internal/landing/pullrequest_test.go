package landing

import "testing"

func TestHostOfARemote(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://github.com/ada/app.git": "github.com", "https://ada:token@GitLab.example.com:8443/app": "gitlab.example.com",
		"git@github.com:ada/app.git": "github.com", "ssh://git@git.example.com:2222/app": "git.example.com", "host:app": "host",
		"/srv/git/app.git": "", "../app": "", "./a:b": "", `C:\git\app`: "", "file:///srv/app": "", "": "",
	} {
		if got := hostOf(address); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}

func TestWhatIsTypedForARequest(t *testing.T) {
	t.Parallel()
	r := &pullRequest{Base: "main", Head: "relay/x", Title: "It's $(done)", Body: "long", BodyFile: "a b.md"}
	for i, want := range []string{
		`gh pr create --base main --head relay/x --title 'It'\''s $(done)' --body-file 'a b.md'`,
		`glab mr create --yes --target-branch main --source-branch relay/x --title 'It'\''s $(done)' --description "$(cat 'a b.md')"`,
	} {
		if got := hostTools[i].typed(r); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
