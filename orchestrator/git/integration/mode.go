package integration

// Mode says how work gets onto another branch.
type Mode string

// Merge keeps the commits as they are and adds a merge commit; LandingRebase replays them on the tip.
const (
	Merge  Mode = "merge"
	Rebase Mode = "rebase"
)
