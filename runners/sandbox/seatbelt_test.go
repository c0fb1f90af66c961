package sandbox

import "testing"

// What is hidden, read-only or writable is so in a profile of sandbox-exec, too. No test runs it: it needs macOS.
func TestProfile(t *testing.T) {
	t.Parallel()
	wall := &Wall{Kind: Seatbelt, Program: []string{"/usr/bin/sandbox-exec"}, Rules: []Rule{
		{"/", ReadOnly}, {"/Users/ada/.ssh", Hidden}, {"/Users/ada/slot \"1\"", Writable}, {"/private/tmp", Private},
	}}
	const want = `(version 1)
(allow default)
(deny signal)
(allow signal (target same-sandbox))
(allow file-read-data (subpath "/"))
(deny file-write* (subpath "/"))
(deny file-read-data (subpath "/Users/ada/.ssh"))
(deny file-write* (subpath "/Users/ada/.ssh"))
(allow file-read-data (subpath "/Users/ada/slot \"1\""))
(allow file-write* (subpath "/Users/ada/slot \"1\""))
(deny file-read-data (subpath "/private/tmp"))
(deny file-write* (subpath "/private/tmp"))
(allow file-read* file-write* (subpath "/dev"))
`
	program, argv := wall.Wrap("/bin/sh", []string{"sh", "-c", "true"}, "/")
	if program != "/usr/bin/sandbox-exec" || len(argv) != 6 || argv[2] != want || argv[3] != "/bin/sh" || argv[4] != "-c" {
		t.Errorf("%s %q", program, argv)
	}
	for setting, holds := range map[string]bool{Auto: false, Require: true, Off: false} {
		if s := (&Sandbox{Setting: setting, Probe: Probe{Kind: Seatbelt}}); s.Holds("") != holds || s.Holds("codex") {
			t.Errorf("%s: it holds %v and codex %v", setting, s.Holds(""), s.Holds("codex"))
		}
	}
}
