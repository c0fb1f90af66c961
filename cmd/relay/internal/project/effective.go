package project

import (
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/configs"
)

// RelativeOrigins names the files that settings come from by their paths below the repository.
func (p *Project) RelativeOrigins(values []configs.Value) {
	for i := range values {
		file, line, _ := strings.Cut(values[i].Origin, ":")
		if filepath.IsAbs(file) {
			values[i].Origin = p.Rel(file) + ":" + line
		}
	}
}

// EffectiveYAML returns every setting with its value and where it comes from, without secrets: a list with key, value and origin.
// It is nil if they have no such form.
func (p *Project) EffectiveYAML() []byte {
	type setting struct {
		Key    string `yaml:"key"`
		Value  any    `yaml:"value"`
		Origin string `yaml:"origin"`
	}
	values := p.Config.Explain()
	p.RelativeOrigins(values)
	list := make([]setting, len(values))
	redact := p.Redactor().Text
	for i, v := range values {
		list[i] = setting{redact(v.Key), v.Value, redact(v.Origin)}
		if shown := v.String(); redact(shown) != shown {
			list[i].Value = redact(shown)
		}
	}
	text, err := yaml.Marshal(list)
	if err != nil {
		return nil
	}
	return append([]byte("# Every setting as it was when this run began, and where it came from: relay config shows those of now.\n"), text...)
}
