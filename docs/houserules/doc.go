// Package houserules checks the rules of this repository that the linter cannot check: how large packages and types may be, which phrases
// comments, messages and pages avoid, and that the statements of docs/conformance name tests that exist. It has only tests. The tables
// in .ci list what exceeds a limit today: .ci/sizes for packages, .ci/types for types, .ci/english for phrases. Their numbers may only
// fall.
package houserules
