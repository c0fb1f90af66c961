package reanchor

import (
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"relay/attempts/artifact"
	"relay/attempts/ledgersync"
)

// documents returns the documents that the project wants to be read, those of them that are in the checkout.
func documents(top string) (there []string) {
	for _, name := range requiredIn(filepath.Join(top, ledgersync.Folder, ledgersync.ConfigFile)) {
		local := filepath.FromSlash(name)
		if !filepath.IsLocal(local) {
			continue
		}
		if info, err := os.Stat(filepath.Join(top, local)); err == nil && info.Mode().IsRegular() {
			there = append(there, filepath.ToSlash(filepath.Clean(local)))
		}
	}
	return there
}

// requiredIn returns the list philosophy.required of a configuration.
func requiredIn(path string) []string {
	text, err := artifact.ReadText(path)
	if err != nil {
		return nil
	}
	var read struct {
		Philosophy struct {
			Required []string `yaml:"required"`
		} `yaml:"philosophy"`
	}
	if yaml.Unmarshal(text, &read) != nil {
		return nil
	}
	return read.Philosophy.Required[:min(len(read.Philosophy.Required), mostItems)]
}
