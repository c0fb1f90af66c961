package runners

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// variable is the value of the last entry of an environment with this name.
func variable(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// inHome is a path in the home folder of an environment; "": it has none.
func inHome(env []string, path ...string) string {
	home := cmp.Or(variable(env, "HOME"), variable(env, "USERPROFILE"))
	if home == "" {
		return ""
	}
	return filepath.Join(append([]string{home}, path...)...)
}

const maxSettings = 1 << 20 // bytes of a file of settings

func settings(folder, name string) []byte {
	if folder == "" {
		return nil
	}
	data, err := lastBytes(filepath.Join(folder, name), maxSettings)
	if err != nil || len(data) == maxSettings { // it may have begun earlier
		return nil
	}
	return data
}

// jsonc reads JSON with comments and commas too many, as far as it goes.
func jsonc(text []byte, into any) {
	if json.Unmarshal(text, into) != nil {
		text = jsoncComma.ReplaceAll(jsoncComment.ReplaceAll(text, nil), []byte("$1"))
		_ = json.Unmarshal(text, into) // what cannot be read says nothing
	}
}

var (
	jsoncComment = regexp.MustCompile(`(?m)(^|\s)//.*$|(?s)/\*.*?\*/`)
	jsoncComma   = regexp.MustCompile(`,(\s*[}\]])`)
)
