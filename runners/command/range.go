package command

import (
	"cmp"
	"strconv"

	"relay/epic/pattern"
)

// VersionRange is the versions that an adapter was tested on, from the oldest to the newest, such as "2.1.197".
type VersionRange struct{ Oldest, Newest string }

// String returns the range for a message: "2.1.197 to 2.1.329", or the only version.
func (v VersionRange) String() string {
	if v.Oldest == v.Newest {
		return v.Newest
	}
	return v.Oldest + " to " + v.Newest
}

// Compare returns a negative number for a version older than all in the range, a positive one for a newer version, else
// 0. It ignores text behind the three numbers.
func (v VersionRange) Compare(version string) int {
	if compareVersions(version, v.Oldest) < 0 {
		return -1
	}
	return max(0, compareVersions(version, v.Newest))
}

func compareVersions(a, b string) int {
	x, y := versionNumbers(a), versionNumbers(b)
	return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(x[2], y[2]))
}

func versionNumbers(version string) [3]int {
	var numbers [3]int
	found := versionPattern.FindStringSubmatch(version)
	for i := range min(len(found), 4) - 1 {
		numbers[i], _ = strconv.Atoi(found[i+1]) // digits, and few
	}
	return numbers
}

var versionPattern = pattern.New(`(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-[0-9A-Za-z.-]{1,40})?`)
