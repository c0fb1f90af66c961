package labtest

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"relay/cmd/relay/internal/terminal"
	"relay/runners/runnertest/modelserver"
)

const (
	realKey = "sk-real-0123456789abcdef"
	// The command itself does not contain the key.
	everything = "env > env.txt; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' > processes.txt; grep -rls 'sk-real-[0]123456789' ~ > files.txt; :"
)

// Real CLIs whose requests get their key from relay work, also without a network, and find the key in no environment and no file.
func TestRealAgentsWithoutKeys(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key, base, at string
	}{
		"claude": {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ""},
		"codex":  {"OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"},
	} {
		for _, hosts := range []string{"open", "none"} {
			t.Run(name+"/"+hosts, func(t *testing.T) {
				t.Parallel()
				c := agentCLI{name: name, key: "proxy", open: true, env: func(string) []string { return []string{} }}
				c.files = func(string) map[string]string {
					return map[string]string{".codex/config.toml": "[analytics]\nenabled = false\n"}
				}
				l := newAgentLab(t, patient, c)
				front := newProvider(t, l.model.URL(name))
				l.env = append(l.env, test.key+"="+realKey, test.base+"="+front.url+test.at, "RELAY_ISOLATION=worktree", "RELAY_SANDBOX=require",
					"RELAY_SANDBOX_NETWORK_AGENTS="+hosts)
				l.model.Play(name, append([]modelserver.Step{{Shell: everything}}, helloTask...)...)
				l.work(terminal.OK).says(t, "T1 completed")
				if front.with == 0 || front.without > 0 {
					t.Errorf("%d requests had the key, %d had not", front.with, front.without)
				}
				for _, file := range []string{"env.txt", "processes.txt", "files.txt"} {
					got := l.git("show", "relay/20260101-agents:"+file)
					if strings.Contains(got, realKey) || file != "files.txt" && !strings.Contains(got, test.key+"=relay-") || file == "files.txt" && got != "" {
						t.Errorf("%s: %s", file, got)
					}
				}
				holdsNoKey(t, l.home)
				holdsNoKey(t, l.root)
			})
		}
	}
}

// provider stands before the model, and counts requests for it with the key and without.
type provider struct {
	url           string
	mu            sync.Mutex
	with, without int
}

func newProvider(t *testing.T, model string) *provider {
	t.Helper()
	p := &provider{}
	target, err := url.Parse(model)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		if r.Header.Get("X-Api-Key") == realKey || r.Header.Get("Authorization") == "Bearer "+realKey {
			p.with++
		} else {
			p.without++
		}
		p.mu.Unlock()
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	p.url = server.URL
	return p
}

// holdsNoKey fails if a file below a folder has the key.
func holdsNoKey(t *testing.T, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(realKey)) {
			t.Errorf("%s has the key", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
