package collect

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"

	"relay/orchestrator/secrets"
	"relay/reanchor/git/repotest"
)

// The base has a private key. The same key elsewhere was there, another one is found, whatever lines all keys of its kind have in common.
func TestSecondPrivateKey(t *testing.T) {
	t.Parallel()
	for kind, key := range map[string]func() string{"openssh": opensshKey, "rsa": rsaKey} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := repotest.New(t)
			first, second := key(), key()
			l.Write("first.pem", first)
			commit := func() string {
				l.Git("add", "-A")
				l.Git("commit", "-q", "-m", "Add a key")
				return l.Git("rev-parse", "HEAD")
			}
			base := commit()
			search := Search{l.Open(), secrets.New(nil)}
			l.Write("copy.pem", first)
			if found := repotest.Want[[]Secret](t)(search.Diff(t.Context(), base, commit())); len(found) != 0 {
				t.Errorf("a copy: found %v", found)
			}
			l.Write("second.pem", second)
			found := repotest.Want[[]Secret](t)(search.Diff(t.Context(), base, commit()))
			if len(found) != 1 || found[0].String() != "second.pem (private-key)" {
				t.Errorf("another key: found %v", found)
			}
		})
	}
}

// opensshKey returns what ssh-keygen -t ed25519 writes, but for its numbers.
func opensshKey() string {
	body := "openssh-key-v1\x00\x00\x00\x00\x04none\x00\x00\x00\x04none\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x003\x00\x00\x00\x0bssh-ed25519\x00\x00\x00 "
	random := make([]byte, 200)
	_, _ = rand.Read(random)
	text := base64.StdEncoding.EncodeToString(append([]byte(body), random...))
	var b strings.Builder
	for len(text) > 70 {
		b.WriteString(text[:70] + "\n")
		text = text[70:]
	}
	return "-----BEGIN OPENSSH " + "PRIVATE KEY-----\n" + b.String() + text + "\n-----END OPENSSH " + "PRIVATE KEY-----\n"
}

func rsaKey() string {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		panic(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE" + " KEY", Bytes: der}))
}
