package attempts

// RefusedError reports why something cannot be done as things are, and what to type.
type RefusedError struct{ Reason, Hint string }

// Error gives the reason.
func (e *RefusedError) Error() string { return e.Reason }
