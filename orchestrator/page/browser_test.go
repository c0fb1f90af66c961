package page

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"relay/epic/slowtest"
	"relay/orchestrator/page/browsertest"
)

// file writes the page of a night, and returns its address.
func file(t *testing.T, size int) string {
	t.Helper()
	n, o := made(t, size)
	path := filepath.Join(t.TempDir(), "night.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Night(f, n, o); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// A page in a browser: nothing on its console, nothing wider than it, and no text that is hard to read; folds closed and open.
func TestBrowser(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t)
	tab := b.Open(file(t, 40), browsertest.Screen{Width: 390})
	fits(t, tab, "40 tasks")
	if got := tab.Console(); len(got) > 0 {
		t.Errorf("on the console: %v", got)
	}

	// The scripts that look for faults find those that are put there.
	tab.Eval(`document.body.insertAdjacentHTML('beforeend', '<p id=bad>a text</p>'); bad.style.width = '500px'; bad.style.color = 'gray'; console.log(1)`)
	for _, script := range []string{browsertest.Wider, browsertest.Faint} {
		if found := browsertest.Texts(tab.Eval(script)); len(found) == 0 {
			t.Errorf("%.40s finds nothing", script)
		}
	}
	if got := tab.Console(); len(got) != 1 {
		t.Errorf("on the console: %v", got)
	}
}

// fits complains of what is too wide or too faint.
func fits(t *testing.T, tab *browsertest.Tab, where string) {
	t.Helper()
	for range 2 {
		for _, script := range []string{browsertest.Wider, browsertest.Faint} {
			for _, found := range browsertest.Texts(tab.Eval(script)) {
				t.Errorf("%s: %s", where, found)
			}
		}
		tab.Eval(`document.querySelectorAll('details').forEach(d => d.open = true)`)
	}
}

// The same at every size, light and dark, on a phone, on a screen and on paper; and with the keyboard alone.
func TestBrowserAll(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t)
	b := browsertest.Start(t)
	for _, size := range []int{5, 40, 400} {
		address := file(t, size)
		for _, s := range []browsertest.Screen{
			{Width: 390}, {Width: 390, Dark: true}, {Width: 1280}, {Width: 1280, Dark: true}, {Width: 800, Print: true},
		} {
			tab := b.Open(address, s)
			fits(t, tab, fmt.Sprintf("%d tasks, %+v", size, s))
			if got := tab.Console(); len(got) > 0 {
				t.Errorf("%d tasks, %+v: on the console: %v", size, s, got)
			}
		}
	}
}

// Every fold opens with the keyboard, the pictures are skipped by one key, and a link to a task opens its fold.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t)
	b := browsertest.Start(t)
	tab := b.Open(file(t, 40), browsertest.Screen{Width: 1280})
	const focus = `(() => { const e = document.activeElement; return (e.getAttribute('class') || e.tagName) + ' ' + (e.textContent || '').trim().slice(0, 30) })()`
	tab.Eval(`document.querySelector('svg.g a.n').focus()`)
	if got := tab.Eval(`document.querySelector('.caption').textContent`); got != "T1 Money in whole cents, done" {
		t.Errorf("the graph says %q of T1", got)
	}
	tab.Eval(`document.activeElement.blur(); scrollTo(0, 0)`)
	seen, opened := map[string]bool{}, false
	for range 200 {
		tab.Press("Tab")
		at := fmt.Sprint(tab.Eval(focus))
		seen[at] = true
		if at == "skip Skip the pictures" {
			tab.Press("Enter")
			tab.Press("Tab")
			if got := fmt.Sprint(tab.Eval(focus)); got != "SUMMARY done 33" {
				t.Errorf("after the pictures are skipped the focus is on %q", got)
			}
			tab.Press("Enter")
			opened = tab.Eval(`document.querySelector('#part-done details').open`) == true
			break
		}
	}
	if !opened || !seen["skip Skip to the content"] || !seen["SUMMARY 2 attempts"] {
		t.Errorf("the keyboard came to %v", seen)
	}
	tab.Eval(`location.hash = '#T9'`)
	if tab.Eval(`new Promise(done => requestAnimationFrame(() => done(document.getElementById('T9').checkVisibility())))`) != true {
		t.Error("the link to T9 does not show it")
	}
}
