package sessionkeeper

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
)

// folders lists the folders in one, numbers by their value.
func folders(dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // there are none yet
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		n, _ := strconv.Atoi(a)
		m, _ := strconv.Atoi(b)
		return cmp.Or(n-m, strings.Compare(a, b))
	})
	return names
}
