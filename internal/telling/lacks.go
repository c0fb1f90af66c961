package telling

import "relay/internal/lazyregexp"

// lacks are words with which compilers, interpreters and shells say that a file, module or name is not there.
var lacks = lazyregexp.New(`(?i)undefined: |undefined reference|\bundeclared\b|\.\w+ undefined|no required module provides|is not in std|` +
	`cannot find (module|package|name|symbol|type|function|value|macro|crate|trait)|module not found|no module named|cannot import name|unresolved import|` +
	`(name|symbol|variable) ['"\x60]?\w+['"\x60]? (is|was) not defined|\w is not defined|has no (exported member|attribute)|does not provide an export|` +
	`no method named|package [\w.]+ does not exist|no such file or directory|no such file|could not resolve|missing:`)

// Lacks reports whether output says that something a program needs is not there.
func Lacks(output string) bool { return lacks.MatchString(output) }
