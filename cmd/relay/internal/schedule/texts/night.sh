#!/bin/sh
# {{.Mark}} {{json .}}
cd {{word .Root}} || exit 1
{{- range .Environ}}
export {{word .}}
{{- end}}
{{- with .EnvFile}}
set -a; . {{word .}}; set +a
{{- end}}
[ $# = 0 ] || exec {{word .Relay}} "$@"
exec {{word .Relay}}{{range .Work}} {{word .}}{{end}} > {{word (print .Script ".log")}} 2>&1
