package project

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/epic"
)

// CreateEpic writes a new epic, whose epic.yml is text. The ledger comes first: an epic.yml means that everything else is there.
// A kill leaves the epic.yml that is there, or the new one.
func (p *Project) CreateEpic(e *epic.Epic, text []byte) error {
	fault := FaultPoints(Lookup(p.Session.Environ, FaultVariable))
	if fault == nil {
		fault = func(string) error { return nil }
	}
	if err := fault("create.begin"); err != nil {
		return err
	}
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return err
	}
	if err := ReplaceFile(p.File(".gitignore"), []byte("*\n")); err != nil {
		return err
	}
	if err := attempts.Create(p.Dir, e, LedgerSettings(p.Config), p.Session.Now()); err != nil {
		return err
	}
	if err := fault("create.epic"); err != nil {
		return err
	}
	return errors.Join(ReplacePrivate(p.File("epic.yml"), text), ReplacePrivate(p.File(importedFile), text))
}

// importedFile is the epic as its plan made it last, beside epic.yml, which people edit.
const importedFile = "imported.yml"

// Imported returns the epic as its plan made it last. It fails for epics that were made without that being kept.
func (p *Project) Imported(e *epic.Epic) (*epic.Epic, error) {
	path := p.File(importedFile)
	src, err := ReadFile(path, MaxPlan)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var made *epic.Epic
	if err == nil {
		if made, err = epic.Read(p.Rel(path), src); err != nil {
			return nil, err
		}
	}
	if made == nil || made.ID != e.ID {
		return nil, &exit.Hinted{
			Err: fmt.Errorf("what relay made of the plan of epic %s is not known: there is no %s", e.ID, p.Rel(path)), Code: exit.Invalid,
			Hint: "edit " + p.Rel(p.File("epic.yml")) + " itself; relay reload applies that to a run",
		}
	}
	return made, nil
}

// UpdateEpic writes an epic that is up to date with its plan, and what the plan makes by now. It fails when epic.yml is not what pl was
// read from any more, as after an edit.
func (p *Project) UpdateEpic(pl *Plan, text, made []byte) error {
	path := p.File("epic.yml")
	if now, err := ReadFile(path, MaxPlan); err != nil || !bytes.Equal(now, pl.Source) {
		return errors.Join(err, &exit.Hinted{Err: errors.New(p.Rel(path) + " was changed meanwhile: nothing is written"), Hint: "relay init --update"})
	}
	if bytes.Equal(text, pl.Source) {
		return ReplacePrivate(p.File(importedFile), made)
	}
	if err := ReplacePrivate(p.File("epic.yml.old"), pl.Source); err != nil {
		return err
	}
	if err := ReplacePrivate(path, text); err != nil { // first: what it has more is found again, after a kill
		return err
	}
	return ReplacePrivate(p.File(importedFile), made)
}
