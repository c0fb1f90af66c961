package main

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"relay/attempts/sessions"
)

// agentsLedger writes the rows of a JSON file into the agents ledger of the current folder: ledger FILE.
func agentsLedger(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(".agents-os/relay")
	ts.Check(os.MkdirAll(dir, 0o755))
	var b sessions.Batch
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &b))
	ctx := context.Background()
	d, err := sessions.Open(ctx, dir, sessions.Options{Now: time.Now})
	ts.Check(err)
	ts.Check(d.Write(ctx, b))
	ts.Check(d.Close())
}
