// Package houserules checks the rules of this repository that the linter cannot check: how large packages and types may be, and which
// phrases comments, messages and pages avoid. It has only tests. The tables in .ci list what exceeds a limit today: .ci/sizes for
// packages, .ci/types for types, .ci/english for phrases. Their numbers may only fall.
package houserules
