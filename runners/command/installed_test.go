package command_test

import (
	"os"
	"path/filepath"
	"testing"

	"relay/runners/command"
)

func TestInstalled(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(path, text string) {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("lib/node_modules/@openai/codex/package.json", `{"name":"@openai/codex","version":"0.169.0","bin":{"codex":"bin/codex.js"}}`)
	put("lib/node_modules/@openai/codex/bin/codex.js", "")
	put("lib/node_modules/one/package.json", `{"version":"1.2.3-beta.1","bin":"./cli.js"}`)
	put("lib/node_modules/one/cli.js", "")
	put("project/package.json", `{"version":"9.9.9","bin":{"other":"other.js"}}`)
	put("project/bin/wrapper", "")
	put("share/claude/versions/2.1.329", "")
	put("Cellar/opencode/1.18.33/bin/opencode", "")
	put("odd/package.json", `{"version":"latest","bin":"odd.js"}`)
	put("odd/odd.js", "")
	put("torn/package.json", `{"version":"1.0.0","bin":`)
	put("torn/torn.js", "")
	put("typed/package.json", `{"version":1,"bin":[1]}`)
	put("typed/typed.js", "")
	if err := os.Symlink(filepath.Join(dir, "lib/node_modules/@openai/codex/bin/codex.js"), filepath.Join(dir, "codex")); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		"codex":                                "0.169.0",
		"lib/node_modules/one/cli.js":          "1.2.3-beta.1",
		"project/bin/wrapper":                  "",
		"share/claude/versions/2.1.329":        "2.1.329",
		"Cellar/opencode/1.18.33/bin/opencode": "1.18.33",
		"odd/odd.js":                           "",
		"torn/torn.js":                         "",
		"typed/typed.js":                       "",
		"missing":                              "",
	} {
		if got := command.InstalledVersion(filepath.Join(dir, path)); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
