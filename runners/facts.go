package runners

// Facts describe the CLI of a type of agents, besides how to run it and what it prints.
type Facts struct {
	Recorded    string            // its name in records that other programs read; "": its type
	Login       string            // what a user types after the name of its program to log in; %s is the program again
	Variables   []string          // of the environment, with its keys and settings; a star stands for any ending
	Steering    []string          // globs of the names in a checkout under which it looks for configuration and instructions
	Leaves      []string          // paths in a checkout, below those names, that it writes itself when it starts
	Forbids     map[string]string // by permission: what its sandbox forbids, as a sentence for the agent
	NewSession  bool              // it takes the id that a new session is to have
	Parts       bool              // it prints a message in parts
	HidesGit    bool              // it hides the user's git configuration from the agent
	PricedAs    string            // the model whose public price holds when its settings name none; "": it is unknown
	TellsPrices bool              // it reports its costs: PricedAs then stands in for any model without a public price
	Access      Access            // to its provider
}

// Access is what a CLI reads in its environment to ask its provider.
type Access struct {
	Keys    []string                                       // the variables that may have its key
	Base    string                                         // the variable with its address
	Address string                                         // where that is not set
	Argv    func(argv []string, base, key string) []string // argv for the address base with the key of a variable; nil: Base does
}
