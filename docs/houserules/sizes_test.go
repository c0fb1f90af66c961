package houserules

import (
	"path"
	"strings"
	"testing"
)

// A package has at most 2,500 lines and 25 files without its tests, or a line in .ci/sizes with its reason.
func TestPackageSizes(t *testing.T) {
	t.Parallel()
	now := readNow(t)
	for name, c := range sizes.read(now[sizesFile]) {
		if c.reason == "" {
			t.Errorf("%s does not say why %s may be larger than others", sizesFile, name)
		}
	}
	sizes.hold(t, now, packageSizes(now), "Take the package apart.")
}

// packageSizes returns lines and files of each package.
func packageSizes(t tree) map[string][]int {
	have := map[string][]int{}
	for name, text := range t {
		if !production(name) {
			continue
		}
		folder := path.Dir(name)
		if have[folder] == nil {
			have[folder] = make([]int, 2)
		}
		have[folder][0] += strings.Count(text, "\n")
		have[folder][1]++
	}
	return have
}
