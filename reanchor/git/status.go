package git

// StatusAll returns the command that asks git for all that is not as in the commit.
func StatusAll() []string {
	return []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching", "--ignore-submodules=all"}
}
