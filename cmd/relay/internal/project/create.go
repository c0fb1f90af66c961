package project

import (
	"os"

	"relay/attempts"
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
	return ReplacePrivate(p.File("epic.yml"), text)
}
