package serve

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"relay/epic/slowtest"
	"relay/orchestrator/page/browsertest"
)

// opened returns a tab that came by the printed address.
func (sv *served) opened(t *testing.T, b *browsertest.Browser, s browsertest.Screen) *browsertest.Tab {
	t.Helper()
	tab := b.Open(sv.URL+sv.base+"?token="+sv.token, s)
	eventually(t, "the page does not come after the token", func() bool {
		return tab.Eval(`location.search === '' && document.readyState === 'complete'`) == true
	})
	return tab
}

// quiet complains of what is too wide, too faint or on the console.
func quiet(t *testing.T, tab *browsertest.Tab, where string) {
	t.Helper()
	for _, script := range []string{browsertest.Wider, browsertest.Faint} {
		for _, found := range browsertest.Texts(tab.Eval(script)) {
			t.Errorf("%s: %s", where, found)
		}
	}
	for _, said := range tab.Console() {
		t.Errorf("%s: on the console: %s", where, said)
	}
}

const heading = `document.querySelector('h1').textContent`

// Eight tabs load and follow the night, with one connection for events; what a person has opened and focused stays.
func TestBrowser(t *testing.T) {
	t.Parallel()
	sv := serving(t, 40, 12, Options{})
	b := browsertest.Start(t)
	tabs := []*browsertest.Tab{sv.opened(t, b, browsertest.Screen{Width: 390})}
	quiet(t, tabs[0], "the night")
	for range 7 {
		tabs = append(tabs, b.Open(sv.URL+sv.base, browsertest.Screen{Width: 1280}))
	}
	eventually(t, "no tab listens", func() bool { return sv.live.viewers.Load() == 1 })
	tabs[7].Eval(`document.querySelector('#part-done details').open = true; document.querySelector('#part-done summary').focus(); scrollTo(0, 50)`)
	sv.append(t, 12)
	sv.live.refresh(t.Context())
	for i, tab := range tabs { // those behind others wait until they are seen
		tab.Call("Page.bringToFront", nil)
		eventually(t, fmt.Sprintf("tab %d does not follow", i+1), func() bool {
			return tab.Eval(`document.body.dataset.since`) == sv.shownAt()
		})
		if got, want := fmt.Sprint(tab.Eval(heading)), string(sv.live.shown.Load().parts["head"].html); !strings.Contains(want, strings.SplitAfter(got, ". ")[0]) {
			t.Errorf("tab %d shows %q, and not %s", i+1, got, want)
		}
		quiet(t, tab, fmt.Sprintf("tab %d", i+1))
	}
	if n := sv.live.viewers.Load(); n != 1 {
		t.Errorf("eight tabs have %d connections for events", n)
	}
	kept := `document.querySelector('#part-done details').open && document.activeElement.matches('#part-done summary') && scrollY === 50`
	if tabs[7].Eval(kept) != true {
		t.Error("a fold, the focus or the place is lost")
	}
}

// Every page, on a phone and on a screen, light and dark; what a fold has left out comes when it opens.
func TestBrowserAll(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t)
	b := browsertest.Start(t)
	for _, tasks := range []int{5, 40, 400} {
		sv := serving(t, tasks, 0, Options{Control: true, Run: func(context.Context, ...string) (string, error) { return "it is done", nil }})
		sv.opened(t, b, browsertest.Screen{Width: 1280})
		for _, path := range []string{"", "graph", "timeline", "money", "runs", "control", "task/T1", "task/T1/brief", "run/20261125T220000Z-7c1e"} {
			for _, s := range []browsertest.Screen{{Width: 390}, {Width: 390, Dark: true}, {Width: 1280}} {
				tab := b.Open(sv.URL+sv.base+path, s)
				tab.Eval(`for (const d of document.querySelectorAll('details')) d.open = true`)
				if path != "task/T1/brief" && path != "task/T1" { // the made night has no files
					quiet(t, tab, fmt.Sprintf("%d tasks, %s, %+v", tasks, path, s))
				}
				tab.Call("Page.close", nil)
			}
		}
		if tasks == 400 {
			tab := b.Open(sv.URL+sv.base, browsertest.Screen{Width: 1280})
			tab.Eval(`document.querySelector('#part-done details').open = true; document.querySelector('#part-done details[data-load]').open = true`)
			eventually(t, "the rows of a fold do not come", func() bool { return tab.Eval(`!!document.querySelector('#part-done [data-load] .rows li')`) == true })
		}
	}
}

// A person decides with the keyboard alone.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t)
	ran := make(chan string, 1)
	sv := serving(t, 40, 0, Options{Control: true, Run: func(_ context.Context, args ...string) (string, error) {
		ran <- fmt.Sprint(args)
		return "it is done", nil
	}})
	tab := sv.opened(t, browsertest.Start(t), browsertest.Screen{Width: 1280})
	for range 100 {
		if tab.Press("Tab"); tab.Eval(`document.activeElement.matches('.decide button')`) == true {
			tab.Press("Enter")
			break
		}
	}
	eventually(t, "the first button runs nothing", func() bool { return len(ran) > 0 })
	if got := <-ran; got != "[answer -- T26 A]" {
		t.Errorf("the first button runs %s", got)
	}
	eventually(t, "the answer does not come", func() bool { return tab.Eval(`document.querySelector('pre')?.textContent`) == "it is done" })
	quiet(t, tab, "after a decision")
}
