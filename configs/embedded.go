package configs

import (
	"bytes"
	_ "embed"
)

//go:embed defaults.yml
var defaultsYAML []byte

//go:embed agents.schema.json
var configSchema []byte

//go:embed epic.schema.json
var epicSchema []byte

// Defaults returns the embedded defaults: a complete configuration file with a comment on every setting.
func Defaults() []byte { return bytes.Clone(defaultsYAML) }

// ConfigSchema returns the JSON Schema (draft 2020-12) of .agents.yml and the two files like it.
func ConfigSchema() []byte { return bytes.Clone(configSchema) }

// EpicSchema returns the JSON Schema (draft 2020-12) of epic.yml.
func EpicSchema() []byte { return bytes.Clone(epicSchema) }
