package sandbox

import (
	"fmt"
	"strings"
)

// profile returns the rules as a profile of sandbox-exec, of macOS: a later line for a path is stronger. It is untried.
func profile(w *Wall) string {
	var text strings.Builder
	text.WriteString("(version 1)\n(allow default)\n(deny signal)\n(allow signal (target same-sandbox))\n")
	for _, r := range w.Rules {
		reading, writing := "allow", "deny"
		switch r.Mode {
		case Hidden, Private: // the process has a temporary folder of its own
			reading = "deny"
		case Writable:
			writing = "allow"
		case ReadOnly:
		}
		fmt.Fprintf(&text, "(%s file-read-data (subpath %q))\n(%s file-write* (subpath %q))\n", reading, r.Path, writing, r.Path)
	}
	text.WriteString("(allow file-read* file-write* (subpath \"/dev\"))\n")
	return text.String()
}
