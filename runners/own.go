package runners

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
)

// Own is what a CLI's own settings say of the model that it will ask.
type Own struct {
	Model  string // "" : they name none
	Priced bool   // they say what the model costs, and the CLI counts by that
}

// CodexOwn reads the settings of codex.
func CodexOwn(env []string) Own {
	text := settings(CodexHome(env), "config.toml")
	top, _, _ := bytes.Cut(append([]byte("\n"), text...), []byte("\n[")) // what follows is of a section
	if m := codexModel.FindSubmatch(top); m != nil {
		return Own{Model: string(m[1])}
	}
	return Own{}
}

var codexModel = regexp.MustCompile(`(?m)^\s*model\s*=\s*["']([^"'\n]+)["']`)

// GeminiOwn reads the settings of Gemini CLI: those in the checkout are stronger than those in the user's home.
func GeminiOwn(env []string, dir string) Own {
	own := Own{Model: variable(env, "GEMINI_MODEL")}
	for _, folder := range []string{filepath.Join(dir, ".gemini"), GeminiHome(env)} {
		var s struct{ Model struct{ Name string } }
		jsonc(settings(folder, "settings.json"), &s)
		own.Model = cmp.Or(own.Model, s.Model.Name)
	}
	return own
}

// opencodeSettings are the parts of opencode's configuration that say what it asks, and what that costs.
type opencodeSettings struct {
	Model    string `json:"model"`
	Provider map[string]struct {
		Models map[string]struct {
			Cost *struct{ Input, Output *float64 } `json:"cost"`
		} `json:"models"`
	} `json:"provider"`
}

// OpencodeOwn reads the configuration of opencode, the weakest file first. Model is the one it is asked for; "": its own.
func OpencodeOwn(env []string, dir, model string) Own {
	home := inHome(env, ".config", "opencode")
	if xdg := variable(env, "XDG_CONFIG_HOME"); xdg != "" {
		home = filepath.Join(xdg, "opencode")
	}
	texts := [][]byte{settings(home, "opencode.json"), settings(home, "opencode.jsonc")}
	if path := variable(env, "OPENCODE_CONFIG"); path != "" {
		texts = append(texts, settings(filepath.Dir(path), filepath.Base(path)))
	}
	texts = append(texts, settings(dir, "opencode.json"), settings(dir, "opencode.jsonc"), []byte(variable(env, "OPENCODE_CONFIG_CONTENT")))
	var all opencodeSettings
	for _, text := range texts {
		jsonc(text, &all) // a map that is there already is added to
	}
	own := Own{Model: cmp.Or(model, all.Model)}
	provider, name, _ := strings.Cut(own.Model, "/")
	cost := all.Provider[provider].Models[name].Cost
	own.Priced = cost != nil && cost.Input != nil && cost.Output != nil
	return own
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
