package update

import "testing"

// A title in a script without spaces between words is alike where its pairs of letters are.
func TestAlikeWithoutSpaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		was, is string
		want    bool
	}{{"修复登录错误", "修复登录页面错误", true}, {"添加购物车", "添加登录", false}, {"Add the cart", "Add the login", false}} {
		if got := alike(c.was, c.is); got != c.want {
			t.Errorf("%s, %s: got %t", c.was, c.is, got)
		}
	}
}
