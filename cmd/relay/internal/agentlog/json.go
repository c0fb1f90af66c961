package agentlog

import (
	"fmt"
	"math"

	"relay/epic/plaintext"
)

// printJSON prints a value with the secrets taken out of its texts: of those that have the form of one, as well as of those that relay
// knows.
func (v *SessionView) printJSON(value any) error {
	clean := v.app.Secrets.Text
	return v.app.PrintJSON(plaintext.CleanAll(plaintext.Cleaner{Line: clean, Block: clean, Own: clean, Most: math.MaxInt}, value))
}

// shown prints a list as JSON, if that is wanted, and says what is missing when it is empty. It is done then, and after an error.
func shown[T any](v *SessionView, list []T, err error, none string) (done bool, _ error) {
	switch {
	case err != nil:
		return true, err
	case v.json:
		return true, v.printJSON(append([]T{}, list...)) // nil would be printed as null
	case len(list) == 0 && none != "":
		fmt.Fprintln(v.app.Err, "relay: note: "+none)
		return true, nil
	}
	return false, nil
}
