package verdict

import "testing"

// What lands later may prove work only if all there is to look at is that its checks pass without its code.
func TestBlind(t *testing.T) {
	t.Parallel()
	e := proved()
	if looks := Looks(e); Blind(looks) {
		t.Errorf("%+v", looks)
	}
	e.Old.Blind = []string{"a.go", "b.go"}
	if looks := Looks(e); !Blind(looks) {
		t.Errorf("%+v", looks)
	}
	e.Work.Merged = []string{"feature"}
	if looks := Looks(e); Blind(looks) {
		t.Errorf("%+v", looks)
	}
}
