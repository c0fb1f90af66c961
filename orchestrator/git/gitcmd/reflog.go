package gitcmd

// KeptMessage is what a log of refs says of relay's own moves: a checkout's HEAD comes along with its branch.
const KeptMessage = "relay: kept"
