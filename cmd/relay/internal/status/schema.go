package status

import _ "embed"

// Schema is the JSON Schema of Report.
//
//go:embed status.schema.json
var Schema []byte
