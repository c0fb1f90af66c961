package integration

// Mode says how work gets onto another branch.
type Mode string

// Merge puts work of one commit onto the tip, and adds a merge commit for other work, whose commits stay as they are. Rebase
// replays them on the tip. Squash makes one commit of them.
const (
	Merge  Mode = "merge"
	Rebase Mode = "rebase"
	Squash Mode = "squash"
)
