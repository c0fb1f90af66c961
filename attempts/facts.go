package attempts

// ChangeKind says what became of a file.
type ChangeKind string

// Kinds of changes.
const (
	FileAdded    ChangeKind = "added"
	FileModified ChangeKind = "modified" // also its mode or its type
	FileDeleted  ChangeKind = "deleted"
	FileRenamed  ChangeKind = "renamed"
)

// FileChange is what git says of one file between an attempt's base and its head.
type FileChange struct {
	Path    string     `json:"path"` // slash-separated, from the top of the repository
	Kind    ChangeKind `json:"kind"`
	From    string     `json:"from,omitempty"`    // path before, of a renamed one
	Added   int        `json:"added,omitempty"`   // lines; 0 of a binary file
	Deleted int        `json:"deleted,omitempty"` // lines; 0 of a binary file
}

// ToolUse says how often an agent has used one of its tools.
type ToolUse struct {
	Name   string `json:"name"`
	Calls  int    `json:"calls"`
	Failed int    `json:"failed,omitempty"` // of them
}

// LeftBehind is a handoff in the ledger of LedgerSync, as far as the entry that answers it repeats it.
type LeftBehind struct {
	ID        string   `json:"id"` // of the entry
	Agent     string   `json:"agent,omitempty"`
	Session   string   `json:"session,omitempty"`
	Completed []string `json:"completed,omitempty"`
	Deferred  []string `json:"deferred,omitempty"`
	Blockers  []string `json:"blockers,omitempty"`
}

// Briefed says what an attempt's brief holds.
type Briefed struct {
	Bytes     int      `json:"bytes"`
	Dir       string   `json:"dir,omitempty"`       // folder that the attempt works in, absolute
	Handoff   string   `json:"handoff,omitempty"`   // id of the LedgerSync entry that it quotes
	Entries   int      `json:"entries,omitempty"`   // LedgerSync entries quoted, with the handoff
	Documents []string `json:"documents,omitempty"` // names of documents it tells the agent to read
	Files     []string `json:"files,omitempty"`     // of the repository, named in it
	Threads   int      `json:"threads,omitempty"`   // discussions
	Learnings int      `json:"learnings,omitempty"`
	Unclear   []string `json:"unclear,omitempty"`   // questions about the task that are still open
	Continues bool     `json:"continues,omitempty"` // work of an earlier attempt is in the checkout
	Cut       []string `json:"cut,omitempty"`       // sections that did not fit
}

// PullRequest says where what has landed was offered.
type PullRequest struct {
	URL    string `json:"url"`
	Branch string `json:"branch"` // pushed
	Into   string `json:"into,omitempty"`
}

// bigChanges limits the files of an attempt that a large event lists one by one.
const bigChanges = 500
