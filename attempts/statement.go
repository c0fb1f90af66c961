package attempts

import "relay/internal/statement"

// An agent's own words about its work, as results and receipts have them.
type (
	Statement         = statement.Statement
	Discovery         = statement.Discovery
	Implementation    = statement.Implementation
	Bugfix            = statement.Bugfix
	Inspection        = statement.Inspection
	InspectionFinding = statement.InspectionFinding
)
