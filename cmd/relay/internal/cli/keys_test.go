package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/runners/kinds"
	"relay/runners/process"
)

// The process has a token in place of its key; the proxy passes what has the token, with the key, and nothing else.
func TestKeyless(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.URL.Path + " with " + r.Header.Get("X-Api-Key") + r.Header.Get("Authorization") + "; "))
	}))
	t.Cleanup(provider.Close)
	run := func(kind, script string, env ...string) (string, error) {
		out := filepath.Join(t.TempDir(), "out")
		cmd := process.Command{
			Argv: []string{"sh", "-c", script, "exec"}, Env: append(env, "PATH="+os.Getenv("PATH")), Stdout: out, Stderr: out,
		}
		p, err := keyless{process.NewLocal(), kinds.FactsOf(kind).Access, "a"}.Start(t.Context(), cmd)
		if err != nil {
			return "", err
		}
		p.Wait()
		said, err := os.ReadFile(out)
		return string(said), err
	}
	const ask = `curl -s -H "x-api-key: $ANTHROPIC_API_KEY" $ANTHROPIC_BASE_URL/v1; curl -s -H "x-api-key: other" -w "%{http_code}" $ANTHROPIC_BASE_URL/v1`
	said, err := run("claude", ask, "ANTHROPIC_API_KEY=real", "ANTHROPIC_BASE_URL="+provider.URL+"/base")
	if want := "/base/v1 with real; relay has given no such key\n401"; err != nil || said != want {
		t.Errorf("got %q, %v, want %q", said, err, want)
	}
	said, err = run("claude", "env", "ANTHROPIC_AUTH_TOKEN=real-token", "OTHER=a real-token b", "ANTHROPIC_BASE_URL="+provider.URL)
	if err != nil || strings.Contains(said, "real") || strings.Contains(said, provider.URL) || strings.Count(said, "relay-") != 2 {
		t.Errorf("the environment is %s, %v", said, err)
	}
	said, err = run("codex", `echo "$@"; curl -s -H "Authorization: Bearer $OPENAI_API_KEY" $OPENAI_BASE_URL/responses`, "OPENAI_API_KEY=real", "OPENAI_BASE_URL="+provider.URL+"/v1")
	if err != nil || !strings.HasSuffix(said, "/v1/responses with Bearer real; ") {
		t.Errorf("got %q, %v", said, err)
	}
	if _, err = run("codex", "true"); err == nil || !strings.Contains(err.Error(), "relay.agents.a.key is proxy, and no variable has a key: CODEX_API_KEY, OPENAI_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
}
