package telling

import (
	"slices"

	"relay/internal/lazyregexp"
)

// lacks are words with which compilers, interpreters and shells say that a file, module or name is not there.
var lacks = []*lazyregexp.Regexp{
	lazyregexp.New(`undefined: |undefined reference|\bundeclared\b|\.\w+ undefined|no required module provides|is not in std|cannot find symbol`),
	lazyregexp.New(`(?i)cannot find (module|package|name|type|function|value|macro|crate|trait)|module not found|no module named`),
	lazyregexp.New(`cannot import name|unresolved import|\w['"]? is not defined|has no (exported member|attribute)|no method named`),
	lazyregexp.New(`(?i)does not provide an export|package [\w.]+ does not exist|no such file|could not resolve|missing: `),
}

// Lacks reports whether output says that something a program needs is not there.
func Lacks(output string) bool {
	return slices.ContainsFunc(lacks, func(r *lazyregexp.Regexp) bool { return r.MatchString(output) })
}
