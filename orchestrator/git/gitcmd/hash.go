package gitcmd

import (
	"crypto/sha1"
	"crypto/sha256"
	"hash"
	"strings"
)

// Wide reports whether the name of an object is a SHA-256.
func Wide(name string) bool { return len(name) == 64 }

// NewHash returns the hash with which git names objects and seals its index.
func NewHash(wide bool) hash.Hash {
	if wide {
		return sha256.New()
	}
	return sha1.New() // git's own choice of a name
}

// IsObject reports whether a text looks like the name of an object.
func IsObject(name string) bool {
	return (len(name) == 40 || len(name) == 64) && strings.Trim(name, "0123456789abcdef") == ""
}
