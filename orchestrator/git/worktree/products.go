package worktree

import (
	_ "embed" // products.txt
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed products.txt
var productsFile string

// products are the patterns of products of tools; one of a folder ends in "/".
var products = sync.OnceValue(func() []string { //nolint:gochecknoglobals // a table, written once
	list := strings.Split(strings.ReplaceAll(productsFile, "\r", ""), "\n")
	return slices.DeleteFunc(list, func(line string) bool { return line == "" || line[0] == '#' })
})

// Product returns the part of a path that ends in a product of tools, such as node_modules; "": it is none.
func Product(p string) string {
	parts := strings.Split(p, "/")
	for _, line := range products() {
		pattern, folder := strings.CutSuffix(line, "/")
		for i, part := range parts {
			if ok, _ := path.Match(pattern, part); ok && folder != (i == len(parts)-1) {
				return strings.Join(parts[:i+1], "/")
			}
		}
	}
	return ""
}
