package gitcmd

import (
	"strings"
)

// IsObject reports whether a text looks like the name of an object.
func IsObject(name string) bool {
	return (len(name) == 40 || len(name) == 64) && strings.Trim(name, "0123456789abcdef") == ""
}
