package runners

import "testing"

func TestForkFind(t *testing.T) {
	t.Parallel()
	requests := []string{"Write it.\n", "Say it.", "Fix it.", "Say it."}
	for _, c := range []struct {
		f    Fork
		want int
		err  string
	}{
		{f: Fork{Asked: "Fix it.\n", Of: 1}, want: 2},
		{f: Fork{Asked: "Say it.", Of: 2}, want: 1},
		{f: Fork{Asked: "Say it.", Nth: 1, Of: 2}, want: 3},
		{f: Fork{Asked: "Say it.", Of: 1}, err: "what its CLI has of the session is not what was recorded"},
		{f: Fork{Asked: "Say it.", Nth: 2, Of: 2}, err: "what its CLI has of the session is not what was recorded"},
		{f: Fork{Asked: "Say", Of: 1}, err: "what its CLI has of the session is not what was recorded"},
		{f: Fork{Asked: "Write it.", Of: 1}, err: "nothing was said before that in its session"},
	} {
		got, err := c.f.Find(requests)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%+v: got %d, %v, want %d, %q", c.f, got, err, c.want, c.err)
		}
	}
}
