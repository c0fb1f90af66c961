package runners

// OwnSettings records what a CLI's own settings say of the model that it will ask.
type OwnSettings struct {
	Model  string // "" : they name none
	Priced bool   // they say what the model costs, and the CLI counts by that
}
