package adapter

import (
	"encoding/json"
	"path/filepath"

	"relay/epic/pattern"
	"relay/runners"
)

// InHome returns a path in the home folder of an environment; "" when it has none.
func InHome(env []string, path ...string) string {
	home := runners.Variable(env, "HOME")
	if home == "" {
		return ""
	}
	return filepath.Join(append([]string{home}, path...)...)
}

const maxSettings = 1 << 20 // bytes of a file of settings

// ReadSettings reads a file of settings; nil when it is missing, cannot be read or is larger than maxSettings.
func ReadSettings(folder, name string) []byte {
	if folder == "" {
		return nil
	}
	data, err := LastBytes(filepath.Join(folder, name), maxSettings)
	if err != nil || len(data) == maxSettings { // it may have begun earlier
		return nil
	}
	return data
}

// UnmarshalJSONC decodes JSON with comments and trailing commas, as far as it goes.
func UnmarshalJSONC(text []byte, into any) {
	if json.Unmarshal(text, into) != nil {
		text = jsoncComma.ReplaceAll(jsoncComment.ReplaceAll(text, nil), []byte("$1"))
		_ = json.Unmarshal(text, into) // what cannot be read says nothing
	}
}

var (
	jsoncComment = pattern.New(`(?m)(^|\s)//.*$|(?s)/\*.*?\*/`)
	jsoncComma   = pattern.New(`,(\s*[}\]])`)
)
