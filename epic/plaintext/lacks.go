package plaintext

import (
	"slices"

	"relay/epic/pattern"
)

// lacks are words with which compilers, interpreters and shells say that a file, module or name is not there.
var lacks = []*pattern.Regexp{
	pattern.New(`undefined: |undefined reference|\bundeclared\b|\.\w+ undefined|no required module provides|is not in std|cannot find symbol`),
	pattern.New(`(?i)cannot find (module|package|name|type|function|value|macro|crate|trait)|module not found|no module named`),
	pattern.New(`cannot import name|unresolved import|\w['"]? is not defined|has no (exported member|attribute)|no method named`),
	pattern.New(`(?i)does not provide an export|package [\w.]+ does not exist|no such file|could not resolve|missing: `),
}

// LacksSomething reports whether output says that something a program needs is not there.
func LacksSomething(output string) bool {
	return slices.ContainsFunc(lacks, func(r *pattern.Regexp) bool { return r.MatchString(output) })
}
