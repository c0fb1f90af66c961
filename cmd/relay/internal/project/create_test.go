package project

import (
	"os"
	"strings"
	"testing"
)

// An epic.yml that somebody writes to while a question is on the screen stays as that person left it.
func TestUpdateOfAnEditedEpic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := &Project{Root: dir, Dir: dir}
	if err := ReplacePrivate(p.File("epic.yml"), []byte("edited")); err != nil {
		t.Fatal(err)
	}
	err := UpdateEpic(p, &Plan{Source: []byte("as it was read")}, []byte("new"), []byte("made"))
	if err == nil || !strings.Contains(err.Error(), "epic.yml was changed meanwhile: nothing is written") {
		t.Errorf("got %v", err)
	}
	if now, err := os.ReadFile(p.File("epic.yml")); err != nil || string(now) != "edited" {
		t.Errorf("got %q, %v", now, err)
	}
	if _, err := os.Stat(p.File(importedFile)); err == nil {
		t.Errorf("%s was written", importedFile)
	}
}
