//go:build !windows

package main

import (
	"strings"
	"testing"
)

// Nothing but this machine is served without TLS, unless that is asked for.
func TestArguments(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"--db x":                       "",
		"":                             "--db is missing",
		"--db x more":                  "unexpected argument",
		"--db x --listen localhost:1":  "want IP:PORT",
		"--db x --listen 0.0.0.0:7233": "without TLS",
		"--db x --listen 0.0.0.0:7233 --insecure":                    "",
		"--db x --tls-ca a":                                          "belong together",
		"--db x --tls-ca a --tls-cert b --tls-key c --listen [::]:1": "",
	} {
		_, err := parse(strings.Fields(line))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", line, err, want)
		}
	}
}
