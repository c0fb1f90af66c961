package kinds_test

import (
	"path/filepath"
	"strings"
	"testing"

	"relay/runners"
	"relay/runners/kinds"
	"relay/runners/runnertest"
)

// Which model a CLI will ask, and whether it knows its price, its own settings say.
func TestOwnSettings(t *testing.T) {
	t.Parallel()
	priced := `{"provider":{"local":{"models":{"m":{"cost":{"input":3,"output":15}},"free":{}}}}, "model": "local/m"}`
	for name, c := range map[string]struct {
		cli, path, text, model string
		env                    []string
		want                   runners.OwnSettings
	}{
		"codex":                            {cli: "codex", path: "home/.codex/config.toml", text: "# model = \"a\"\n  model = \"gpt-5.5\"\n[profiles.x]\nmodel = \"b\"\n", want: runners.OwnSettings{Model: "gpt-5.5"}},
		"codex, only a section's":          {cli: "codex", path: "home/.codex/config.toml", text: "[profiles.x]\nmodel = \"b\"\n"},
		"codex, elsewhere":                 {cli: "codex", path: "other/config.toml", text: "model = 'x'", env: []string{"CODEX_HOME=%/other"}, want: runners.OwnSettings{Model: "x"}},
		"codex, nothing":                   {cli: "codex", path: "home/x"},
		"gemini":                           {cli: "gemini", path: "home/.gemini/settings.json", text: `{"model":{"name":"gemini-3-pro"}}`, want: runners.OwnSettings{Model: "gemini-3-pro"}},
		"gemini, with comments":            {cli: "gemini", path: "home/.gemini/settings.json", text: "{\n// mine\n\"model\":{\"name\":\"a//b\"},}", want: runners.OwnSettings{Model: "a//b"}},
		"gemini, in the checkout":          {cli: "gemini", path: "dir/.gemini/settings.json", text: `{"model":{"name":"p"}}`, want: runners.OwnSettings{Model: "p"}},
		"gemini, by a variable":            {cli: "gemini", path: "home/.gemini/settings.json", text: `{"model":{"name":"a"}}`, env: []string{"GEMINI_MODEL=v"}, want: runners.OwnSettings{Model: "v"}},
		"gemini, another form":             {cli: "gemini", path: "home/.gemini/settings.json", text: `{"model":"a"}`},
		"opencode":                         {cli: "opencode", path: "home/.config/opencode/opencode.json", text: priced, want: runners.OwnSettings{Model: "local/m", Priced: true}},
		"opencode, another model":          {cli: "opencode", path: "home/.config/opencode/opencode.jsonc", text: priced, model: "local/free", want: runners.OwnSettings{Model: "local/free"}},
		"opencode, in the checkout":        {cli: "opencode", path: "dir/opencode.json", text: priced, want: runners.OwnSettings{Model: "local/m", Priced: true}},
		"opencode, by a variable":          {cli: "opencode", path: "home/x", env: []string{"OPENCODE_CONFIG_CONTENT=" + priced}, want: runners.OwnSettings{Model: "local/m", Priced: true}},
		"opencode, a file of a variable's": {cli: "opencode", path: "home/y.json", text: priced, env: []string{"OPENCODE_CONFIG=%/home/y.json"}, want: runners.OwnSettings{Model: "local/m", Priced: true}},
		"opencode, nothing":                {cli: "opencode", path: "home/x", model: "a/b", want: runners.OwnSettings{Model: "a/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			runnertest.WriteFile(t, filepath.Join(dir, c.path), []byte(c.text))
			env := []string{"HOME=" + filepath.Join(dir, "home")}
			for _, entry := range c.env {
				env = append(env, strings.Replace(entry, "%", dir, 1))
			}
			got := kinds.OwnSettings(c.cli, env, filepath.Join(dir, "dir"), c.model)
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
