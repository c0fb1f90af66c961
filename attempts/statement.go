package attempts

import "relay/epic/plaintext"

type (
	// Statement is what an agent says of its work besides its summary, as results and receipts have it.
	Statement = plaintext.Statement
	// Discovery is work that an agent has found and not done.
	Discovery = plaintext.Discovery
	// Implementation is what an agent says of something it has built.
	Implementation = plaintext.Implementation
	// Bugfix is what an agent says of a fault it has fixed.
	Bugfix = plaintext.Bugfix
	// Inspection is what an agent says of code that it was to judge.
	Inspection = plaintext.Inspection
	// InspectionFinding is one thing that was found.
	InspectionFinding = plaintext.InspectionFinding
)
