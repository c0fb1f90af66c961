package sandboxtest

// Packages is a shell script that makes packages in its folder, and a home in which a user has some: a module of go that only the user's
// cache has, another one that only a proxy has, a package of npm, and a browser among the user's caches. Its HOME is the folder home in it.
const Packages = `set -e
export GOPROXY=file://$HOME/proxy GONOSUMDB='*' GOFLAGS=-mod=mod GOCACHE=$PWD/built GOTOOLCHAIN=local
module() {
	d=~/proxy/example.com/$2/@v; mkdir -p $d example.com/$1@v1.0.0; echo v1.0.0 > $d/list; echo '{"Version":"v1.0.0"}' > $d/v1.0.0.info
	echo "module example.com/$1" | tee $d/v1.0.0.mod > example.com/$1@v1.0.0/go.mod; echo "word of $1" > example.com/$1@v1.0.0/word
	printf 'package p\n\nimport _ "embed"\n\n//go:embed word\nvar Word string\n' > example.com/$1@v1.0.0/p.go
	python3 -c 'import sys, zipfile, glob
with zipfile.ZipFile(sys.argv[1], "w") as z: [z.write(f) for f in glob.glob("example.com/*/*")]' $d/v1.0.0.zip; rm -r example.com
}
module Kept '!kept'; module other other
mkdir -p user/service package home/.cache/ms-playwright/chromium-1
(cd user/service; printf 'module m\n\ngo 1.21\n\nrequire example.com/Kept v1.0.0\n' > go.mod
printf 'package m\n\nimport _ "example.com/Kept"\n' > m.go
go list -deps . > deps)
rm -r ~/proxy/example.com/'!kept' user/service/deps
echo '{"name":"pack","version":"1.0.0","main":"word"}' > package/package.json
echo 'module.exports = "word"' > package/word; tar czf ~/pack.tgz package
echo '#!/bin/sh' > home/.cache/ms-playwright/chromium-1/chrome; chmod 755 home/.cache/ms-playwright/chromium-1/chrome
`

// Uses is a shell script that uses these packages in a copy of the folder user.
const Uses = `set -e
export GONOSUMDB='*' GOFLAGS=-mod=mod GOTOOLCHAIN=local CGO_ENABLED=0 PATH=$PATH:/usr/local/go/bin
test -x ${XDG_CACHE_HOME:-~/.cache}/ms-playwright/chromium-1/chrome
cd service
GOPROXY=off go list -deps . | grep example.com/Kept
test "$(GOPROXY=off go list -f '{{.EmbedFiles}}' example.com/Kept)" = '[word]'
GOPROXY=file://$HOME/proxy go get example.com/other@v1.0.0
GOPROXY=off go list example.com/...
cd ..; rm -rf node_modules package*.json; npm install --offline --no-audit --no-update-notifier ~/pack.tgz
test "$(node -p 'require("pack")')" = word
`
