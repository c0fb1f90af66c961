package repotest

import (
	"os"
	"path/filepath"
	"testing"
)

// Main runs a package's tests with a git that is told nothing but what they tell it: neither by the settings of who runs
// them, nor by the git that does, as in a hook.
func Main(m *testing.M) {
	home, err := os.MkdirTemp("", "repotest")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	config := filepath.Join(home, "gitconfig")
	if err := os.WriteFile(config, []byte("[user]\nname = Test\nemail = test@example.org\n"), 0o644); err != nil {
		panic(err)
	}
	for _, name := range []string{
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_EDITOR", "EMAIL",
		"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
	} {
		_ = os.Unsetenv(name)
	}
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": config, "GIT_CONFIG_SYSTEM": os.DevNull, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8",
	} {
		_ = os.Setenv(name, value)
	}
	m.Run()
}
