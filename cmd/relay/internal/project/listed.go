package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/orchestrator/text"
)

// ListedFolder is where the epics of playlists are, below relay's folder: each in a folder named by its id.
const ListedFolder = "epics"

// Listed returns the ids of the epics of playlists that relay has begun to work on in this repository, in order.
func (p *Project) Listed() (ids []string) {
	entries, _ := os.ReadDir(filepath.Join(p.Home, ListedFolder)) // none: there is no such epic
	for _, e := range entries {
		if e.IsDir() && Exists(filepath.Join(p.Home, ListedFolder, e.Name(), "epic.yml")) {
			ids = append(ids, e.Name())
		}
	}
	return ids
}

// OfEpic returns this project with the folder of an epic of a playlist, which need not be there yet.
func (p *Project) OfEpic(id string) *Project {
	return &Project{
		Root: p.Root, Home: p.Home, Dir: filepath.Join(p.Home, ListedFolder, id), Git: p.Git, Config: p.Config,
		Damage: p.Damage, Session: p.Session,
	}
}

// EpicFlag returns what names the epic to other commands, as in " --epic ID"; "" for the one in relay's own folder.
func (p *Project) EpicFlag() string {
	if p.Dir == p.Home {
		return ""
	}
	return " --epic " + filepath.Base(p.Dir)
}

// listedDir returns the folder of an epic of a playlist. It fails when there is none of that id.
func listedDir(p *Project, id string) (string, error) {
	ids := p.Listed()
	if slices.Contains(ids, id) {
		return p.OfEpic(id).Dir, nil
	}
	return "", &exit.UsageError{Message: "there is no epic " + terminal.Quote(id) + " of a playlist here", Hint: nearestEpic(id, ids)}
}

// nearestEpic returns the hint for an epic of a playlist that is not there.
func nearestEpic(id string, ids []string) string {
	if len(ids) == 0 {
		return "relay work --playlist FILE makes them; without --epic, commands are about the epic of relay init"
	}
	near, found := epic.Nearest(id, ids)
	for _, there := range ids {
		if !found && strings.Contains(there, id) {
			near, found = there, true
		}
	}
	if found {
		return "did you mean " + near + "?"
	}
	return "there are: " + text.Some(ids, 10)
}
