package opencode

import (
	"cmp"
	"path/filepath"
	"strings"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// configSettings are the parts of opencode's configuration that say what it asks, and what that costs.
type configSettings struct {
	Model    string `json:"model"`
	Provider map[string]struct {
		Models map[string]struct {
			Cost *struct{ Input, Output *float64 } `json:"cost"`
		} `json:"models"`
	} `json:"provider"`
}

// OwnSettings reads the configuration of opencode, the weakest file first. Model is the one it is asked for; "": its own.
func OwnSettings(env []string, dir, model string) runners.OwnSettings {
	home := adapter.InHome(env, ".config", "opencode")
	if xdg := runners.Variable(env, "XDG_CONFIG_HOME"); xdg != "" {
		home = filepath.Join(xdg, "opencode")
	}
	texts := [][]byte{adapter.ReadSettings(home, "opencode.json"), adapter.ReadSettings(home, "opencode.jsonc")}
	if path := runners.Variable(env, "OPENCODE_CONFIG"); path != "" {
		texts = append(texts, adapter.ReadSettings(filepath.Dir(path), filepath.Base(path)))
	}
	texts = append(texts, adapter.ReadSettings(dir, "opencode.json"),
		adapter.ReadSettings(dir, "opencode.jsonc"), []byte(runners.Variable(env, "OPENCODE_CONFIG_CONTENT")))
	var all configSettings
	for _, text := range texts {
		adapter.UnmarshalJSONC(text, &all) // a map that is there already is added to
	}
	own := runners.OwnSettings{Model: cmp.Or(model, all.Model)}
	provider, name, _ := strings.Cut(own.Model, "/")
	cost := all.Provider[provider].Models[name].Cost
	own.Priced = cost != nil && cost.Input != nil && cost.Output != nil
	return own
}
