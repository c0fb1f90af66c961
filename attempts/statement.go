package attempts

import "relay/internal/statement"

type (
	// Statement is what an agent says of its work besides its summary, as results and receipts have it.
	Statement = statement.Statement
	// Discovery is work that an agent has found and not done.
	Discovery = statement.Discovery
	// Implementation is what an agent says of something it has built.
	Implementation = statement.Implementation
	// Bugfix is what an agent says of a fault it has fixed.
	Bugfix = statement.Bugfix
	// Inspection is what an agent says of code that it was to judge.
	Inspection = statement.Inspection
	// InspectionFinding is one thing that was found.
	InspectionFinding = statement.InspectionFinding
)
