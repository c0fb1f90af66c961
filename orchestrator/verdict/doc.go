// Package verdict decides what an attempt's end means. It is pure: no process, clock, git or file.
//
// It alone names outcomes to decide: whom an end is charged to, whether it gates the task, what it says of the runner. Others
// carry out what it returns, or render an outcome as text; TestNamed lists those renderers.
package verdict
