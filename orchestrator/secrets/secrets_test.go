package secrets

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func TestValues(t *testing.T) {
	t.Parallel()
	const odd = `p"ss w/rd&é\x=1`
	r := New([]string{
		"PATH=/usr/bin:/bin", "A_KEY=abcdefghijklmnop", "SHORT_TOKEN=1234567", "EMPTY_SECRET=", "ODD_PASSWORD=" + odd, "NOVALUE_KEY",
		"PEM_KEY=-----BEGIN-----\nMIIEvQIBADANBgkq\n-----END-----", "SSH_KEY_PATH=/home/ada/.ssh/id", "GOOGLE_APPLICATION_CREDENTIALS=/home/ada/key.json",
		"HTTPS_PROXY=http://ada:hunter2hunter2@proxy:3128", "SLASH_TOKEN=/abc/defgh+ijk=",
	})
	for in, want := range map[string]string{
		"say abcdefghijklmnop.":                        "say [redacted A_KEY].",
		"1234567 in /usr/bin:/bin":                     "1234567 in /usr/bin:/bin",
		"/home/ada/.ssh/id and /home/ada/key.json":     "/home/ada/.ssh/id and /home/ada/key.json",
		"key: MIIEvQIBADANBgkq":                        "key: [redacted PEM_KEY]",
		"via http://ada:hunter2hunter2@proxy:3128":     "via http://ada:[redacted HTTPS_PROXY]@proxy:3128",
		"it is " + odd:                                 "it is [redacted ODD_PASSWORD]",
		"in JSON " + strconv.Quote(odd):                `in JSON "[redacted ODD_PASSWORD]"`,
		"in a URL ?q=" + url.QueryEscape(odd) + "&r=1": "in a URL ?q=[redacted ODD_PASSWORD]&r=1",
		"in a path /" + url.PathEscape(odd):            "in a path /[redacted ODD_PASSWORD]",
		"/abc/defgh+ijk= begins with a slash":          "[redacted SLASH_TOKEN] begins with a slash",
		"abcdefgh\n    ijklmnop over two lines":        "[redacted A_KEY]\n over two lines",
		`"abcdefgh\nijklmnop"`:                         `"[redacted A_KEY]"`,
		"cut: abcdefghijkl […]":                        "cut: [redacted A_KEY] […]",
		"efghijklmnop, the rest of it":                 "[redacted A_KEY], the rest of it",
		"abcdefg, less than half":                      "abcdefg, less than half",
	} {
		if got := r.Values(in); got != want {
			t.Errorf("%q:\ngot  %q\nwant %q", in, got, want)
		}
		if got := r.Text(r.Values(in)); got != want {
			t.Errorf("%q, again: got %q", in, got)
		}
	}
	for before := range 4 {
		in := base64.StdEncoding.EncodeToString([]byte("user:"[:before] + odd + " and more"))
		if got := r.Text(in); !strings.Contains(got, "[redacted ODD_PASSWORD]") || len(got) > len(in)+10 {
			t.Errorf("base64 %q: got %q", in, got)
		}
	}
}

func TestShapes(t *testing.T) {
	t.Parallel()
	var r *Redactor
	// In two parts, so that nobody takes this file for one with secrets in it.
	pat, key := "gh"+"p_R9sVwX2kLmN4pQ7tYbC1dE3fG5hJ8zA0uWoK", "AKIA"+"ZAANCSMQ7JHIW3EX"
	const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
	begin, end := "-----BEGIN "+"PRIVATE KEY-----", "-----END "+"PRIVATE KEY-----"
	for in, want := range map[string]string{
		"(" + pat + "), and":                "([redacted github-pat]), and",
		`{"a":"x\n` + key + `\ny"}`:         `{"a":"x\n[redacted aws-access-token]\ny"}`,
		"\x1b[31m" + key + "\x1b[0m":        "\x1b[31m[redacted aws-access-token]\x1b[0m",
		"?key%3D" + key + "%26":             "?key%3D[redacted aws-access-token]%26",
		begin + "\n" + body + "\n" + end:    "[redacted private-key]\n\n",
		"tail:\n" + body + "\n" + end + ".": "tail:[redacted private-key]\n\n.",
		begin + `\n` + body:                 "[redacted private-key]",
		"sq0" + "atp-" + body[:22]:          "[redacted square-access-token]",
		"hvs" + "." + body + body[:40]:      "[redacted vault-service-token]",
		"sgp" + "_" + strings.Repeat("0123456789abcdef0123", 2) + " at sourcegraph": "[redacted sourcegraph-access-token] at sourcegraph",
		"sk-" + "or-v1-" + "9f8e7d6c5b4a39281706f5e4d3c2b1a0":                       "[redacted model-api-key]",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%q:\ngot  %q\nwant %q", in, got, want)
		}
		if got := r.Text(want); got != want {
			t.Errorf("%q, again: got %q", want, got)
		}
	}
	for _, harmless := range []string{
		"commit 4385ec6bf14adf9da1a0bb5a28a9ece24b0b85c5 of sourcegraph, sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"session 0190f3b6-7c4f-7a8e-9d2b-3c5e1f0a6b7d of run 20261121T232835Z-0e2a, tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
		"/home/ada/work/.agents-os/relay/runs/20261121T232835Z-0e2a/T1/2/review/1/prompt.md and src/token_key_secret_password.go",
		"fixture iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
		"EAAAAAABIhdsPhK0EAAAPtnMIQPbGBA in a base64 fixture", "s.ReadUint16LengthPrefixed(&b) and s.handleConfigurationChange",
		"the class sk-folding-cube, AKIAIOSFODNN7EXAMPLE of the manual, ghp_ tokens and a PRIVATE KEY-----",
		"h1:dKkf3nr0Y1u1GKwYt2FnwvCpRFfOqLRfYm0xBJ4Lh2c= sha512-9gAvS1Zq0o9T5j8kDqkQYy2eQjTq7gXoGJzY0u8rWb1N6v4fQ3hKxw2l5mB7dCpA==",
		"password: change-me, token=$TOKEN, api_key = os.Getenv(\"API_KEY\"), secret := newSecret(rand.Reader)",
	} {
		if got := r.Text(harmless); got != harmless {
			t.Errorf("%q became %q", harmless, got)
		}
	}
}

// What the user wrote into the plan reaches the agent, and nothing else does.
func TestExcept(t *testing.T) {
	t.Parallel()
	r := New([]string{"OTHER_KEY=abcdefghijklmnop"})
	own := "sk" + "_test_4eC39HqLyjWDarjtT1zdp7dc"
	got := r.Except("use "+own+" not abcdefghijklmnop", []byte("description: >\n  use sk"+"_test_4eC39Hq\n  LyjWDarjtT1zdp7dc\n"))
	if want := "use " + own + " not [redacted OTHER_KEY]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	r := New([]string{"A_KEY=abcdefghijklmnop"})
	line := strings.Repeat("word ", 40) + "abcdefghijklmnop\n"
	var b strings.Builder
	s := r.Stream(&b)
	in := strings.Repeat(line, 3*piece/len(line))
	for rest := in; rest != ""; {
		n := min(len(rest), 7001)
		if _, err := s.Write([]byte(rest[:n])); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(in, "abcdefghijklmnop", "[redacted A_KEY]"); b.String() != want {
		t.Errorf("got %d bytes, want %d", b.Len(), len(want))
	}
}

func FuzzText(f *testing.F) {
	r := New([]string{"A_KEY=abcdefghijklmnop", "B_TOKEN=q\"w e\\rt/y%z&"})
	f.Add("abcdefgh\\nijklmnop and " + "gh" + "p_R9sVwX2kLmN4pQ7tYbC1dE3fG5hJ8zA0uWoK\"")
	f.Add("-----END " + "PRIVATE KEY-----\x1b[31mAK" + "IAZAANCSMQ7JHIW3EX%20")
	f.Fuzz(func(t *testing.T, s string) {
		once := r.Text(s)
		if strings.Contains(once, "abcdefghijklmnop") {
			t.Errorf("%q leaves the value in %q", s, once)
		}
		if s == once && strings.Contains(s, "abcdefghijklmnop") {
			t.Errorf("%q is left as it is", s)
		}
	})
}
