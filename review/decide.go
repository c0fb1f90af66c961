package review

import "cmp"

// Decide turns a reviewer's verdict into the decision that counts. It is not the reviewer's: a finding at or above
// the bar of the strictness asks for changes even beside an approval, a critical one blocks, and a reviewer whose
// every finding lies below the bar has approved. Findings below it are deferred, never dropped. A refusal without any
// finding stands, and counts as one finding with the summary as its text.
//
// A strictness that is not known is as Strict.
func Decide(v Verdict, s Strictness) (d Decision, counted, deferred []Finding) {
	bar := s.bar()
	d = Approved
	for _, f := range v.Findings {
		switch {
		case f.Severity.rank() > bar:
			deferred = append(deferred, f)
			continue
		case f.Severity == Critical:
			d = Blocked
		case d == Approved:
			d = NeedsChanges
		}
		counted = append(counted, f)
	}
	if v.Decision == Blocked {
		d = Blocked
	}
	if v.Decision != Approved && v.Decision != Blocked && len(v.Findings) == 0 {
		d = NeedsChanges
	}
	if d != Approved && len(counted) == 0 {
		counted = []Finding{{Severity: High, Issue: cmp.Or(v.Summary, "the reviewer refused the change and gave no finding")}}
	}
	return d, counted, deferred
}

// bar returns the rank of the mildest severity that counts.
func (s Strictness) bar() int {
	switch s {
	case Pedantic:
		return Low.rank()
	case Standard:
		return High.rank()
	default:
		return Medium.rank()
	}
}
