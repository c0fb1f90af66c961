package blueprint

import (
	"testing"

	"relay/epic"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]epic.Kind{
		"Checkpoint: all user stories work":               epic.KindVerify,
		"✅ Checkpoint 3":                                  epic.KindVerify,
		"Run quickstart.md validation":                    epic.KindVerify,
		"Run all tests":                                   epic.KindVerify,
		"Verify that all tests pass":                      epic.KindVerify,
		"Ensure the build is green":                       epic.KindVerify,
		"Verify email addresses at signup":                epic.KindFeature,
		"Run tests in parallel":                           epic.KindFeature,
		"Check passwords":                                 epic.KindFeature,
		"Ensure that retries pass the tests' deadline on": epic.KindFeature,
		"Write tests that pass":                           epic.KindFeature,
	} {
		if got := KindOf(title); got != want {
			t.Errorf("%q: got %s, want %s", title, got, want)
		}
	}
}
