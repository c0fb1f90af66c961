package reanchor

import (
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"relay/attempts/artifact"
	"relay/attempts/ledgersync"
	"relay/epic/plaintext"
)

// documents returns the documents that the project wants to be read, those of them that are in the checkout: its configuration has them in
// philosophy.required.
func documents(top string) (there []string) {
	var read struct {
		Philosophy struct {
			Required []string `yaml:"required"`
		} `yaml:"philosophy"`
	}
	text, err := plaintext.ReadFile(filepath.Join(top, ledgersync.Folder, ledgersync.ConfigFile), artifact.MaxSize)
	if err != nil || yaml.Unmarshal(text, &read) != nil {
		return nil
	}
	required := read.Philosophy.Required
	for _, name := range required[:min(len(required), mostItems)] {
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
