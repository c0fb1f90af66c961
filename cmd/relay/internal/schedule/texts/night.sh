#!/bin/sh
# {{.Mark}} {{.JSON}}
cd {{word .Root}} || exit 1
{{- range .Environ}}
export {{word .}}
{{- end}}
{{- with .EnvFile}}
set -a; . {{word .}}; set +a
{{- end}}
[ $# = 0 ] || exec {{word .Relay}} "$@"
exec {{word .Relay}}{{range .Work}} {{word .}}{{end}} > {{word .Log}} 2>&1
