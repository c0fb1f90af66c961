package runners

import (
	"cmp"
	"path/filepath"
	"strings"
)

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
