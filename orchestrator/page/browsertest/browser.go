// Package browsertest drives a headless Chromium, over its own pipe, for tests of pages.
package browsertest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// Browser is a Chromium.
type Browser struct {
	tb      testing.TB
	to      *os.File
	mutex   sync.Mutex
	last    int
	waiting map[int]chan json.RawMessage
	tabs    map[string]*Tab
}

// Tab is a page in a browser.
type Tab struct {
	b       *Browser
	session string
	loaded  chan struct{}
	mutex   sync.Mutex
	console []string
}

// Screen is what a page is shown on.
type Screen struct {
	Width int
	Dark  bool
	Print bool
}

// most is how long anything may take on a machine that is busy.
const most = 2 * time.Minute

type message struct {
	ID        int             `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    any             `json:"params,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
}

// Start starts a Chromium, which ends with the test. It skips the test where there is none.
func Start(tb testing.TB) *Browser {
	tb.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		tb.Skip("chromium is not installed")
	}
	theirs, to, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	from, their, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--hide-scrollbars", "--user-data-dir="+tb.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirs, their}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	theirs.Close()
	their.Close()
	b := &Browser{tb: tb, to: to, waiting: map[int]chan json.RawMessage{}, tabs: map[string]*Tab{}}
	tb.Cleanup(func() {
		b.call("", "Browser.close", nil)
		to.Close()
		_ = cmd.Wait()
		from.Close()
	})
	go b.read(bufio.NewReader(from))
	return b
}

// read passes on what the browser says.
func (b *Browser) read(from *bufio.Reader) {
	for {
		line, err := from.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		b.mutex.Lock()
		answer, tab := b.waiting[m.ID], b.tabs[m.SessionID]
		delete(b.waiting, m.ID)
		b.mutex.Unlock()
		switch {
		case answer != nil && m.Error != nil:
			answer <- m.Error
		case answer != nil:
			answer <- m.Result
		case tab != nil:
			tab.take(m.Method, string(line))
		}
	}
}

func (t *Tab) take(method, whole string) {
	switch method {
	case "Page.loadEventFired":
		t.loaded <- struct{}{}
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
		t.mutex.Lock()
		t.console = append(t.console, whole)
		t.mutex.Unlock()
	}
}

// call has the browser do something, and returns what it answers.
func (b *Browser) call(session, method string, params any) (result json.RawMessage) {
	b.tb.Helper()
	answer := make(chan json.RawMessage, 1)
	b.mutex.Lock()
	b.last++
	b.waiting[b.last] = answer
	data, err := json.Marshal(message{ID: b.last, Method: method, Params: params, SessionID: session})
	if err == nil {
		_, err = b.to.Write(append(data, 0))
	}
	b.mutex.Unlock()
	if err != nil {
		b.tb.Fatal(err)
	}
	select {
	case result = <-answer:
		return result
	case <-time.After(most):
		b.tb.Errorf("the browser does not answer %s", method)
		return nil
	}
}

func field[T any](data json.RawMessage, name string) (value T) {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) == nil {
		_ = json.Unmarshal(all[name], &value)
	}
	return value
}

// Open opens a page in a tab of its own, and waits until it is there.
func (b *Browser) Open(address string, s Screen) *Tab {
	b.tb.Helper()
	target := field[string](b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}), "targetId")
	t := &Tab{b: b, loaded: make(chan struct{}, 100)}
	t.session = field[string](b.call("", "Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}), "sessionId")
	b.mutex.Lock()
	b.tabs[t.session] = t
	b.mutex.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		t.Call(domain+".enable", nil)
	}
	t.Show(s)
	t.Call("Page.navigate", map[string]any{"url": address})
	select {
	case <-t.loaded:
	case <-time.After(most):
		b.tb.Fatalf("%s does not load", address)
	}
	return t
}

// Show puts the page on another screen.
func (t *Tab) Show(s Screen) {
	scheme, media := "light", ""
	if s.Dark {
		scheme = "dark"
	}
	if s.Print {
		media = "print"
	}
	t.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": s.Width, "height": 900, "deviceScaleFactor": 1, "mobile": s.Width < 500})
	t.Call("Emulation.setEmulatedMedia", map[string]any{
		"media": media, "features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}},
	})
}

// Call has the page do something by the protocol of its tools.
func (t *Tab) Call(method string, params any) json.RawMessage {
	t.b.tb.Helper()
	return t.b.call(t.session, method, params)
}

// Eval runs a script in the page, and returns what comes of it.
func (t *Tab) Eval(script string) any {
	t.b.tb.Helper()
	result := t.Call("Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true})
	if failed := field[json.RawMessage](result, "exceptionDetails"); failed != nil {
		t.b.tb.Errorf("%s: %s", script, failed)
	}
	return field[any](field[json.RawMessage](result, "result"), "value")
}

// Press presses and releases a key, such as Tab or Enter.
func (t *Tab) Press(key string) {
	t.b.tb.Helper()
	code := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}[key]
	event := map[string]any{"type": "keyDown", "key": key, "code": strings.Replace(key, " ", "Space", 1), "windowsVirtualKeyCode": code}
	if text := map[string]string{"Enter": "\r", " ": " "}[key]; text != "" {
		event["text"] = text
	}
	t.Call("Input.dispatchKeyEvent", event)
	event["type"] = "keyUp"
	delete(event, "text")
	t.Call("Input.dispatchKeyEvent", event)
}

// Console returns what the page has written on its console, errors of scripts and of its policy too.
func (t *Tab) Console() []string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return append([]string{}, t.console...)
}

// Wider is a script that returns what is wider than the page, as a list of texts.
const Wider = `[...document.querySelectorAll('body *')].filter(e => {
  const r = e.getBoundingClientRect();
  return r.width > 0 && r.right > document.documentElement.clientWidth + 1 && r.left >= 0 && !e.closest('svg svg, svg.relay, .sr');
}).map(e => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 40))
  .concat(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ['the page is ' + document.documentElement.scrollWidth] : [])`

// Faint is a script that returns the texts with too little contrast for level AA, as a list of texts.
const Faint = `(() => {
  const parse = c => (c.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = c => parse(c).slice(0, 3).map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor, p = parse(c);
      if (p.length < 4 || p[3] > 0) return c;
    }
    return 'rgb(255,255,255)';
  };
  const found = [];
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    if (!e.getClientRects().length || e.closest('.sr, title, script, style')) continue;
    const drawn = e.namespaceURI.endsWith('svg'), style = getComputedStyle(e), ink = drawn ? style.fill : style.color;
    const box = drawn && !e.matches('.d, svg.relay > text') && e.parentElement.querySelector(':scope > rect');
    const under = box ? getComputedStyle(box).fill : behind(e);
    const [a, b] = [light(ink), light(under)].sort((x, y) => y - x), ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) found.push(ratio.toFixed(1) + ' ' + ink + ' on ' + under + ': ' + e.textContent.slice(0, 40));
  }
  return found;
})()`

// Texts returns a list that a script returned as texts.
func Texts(value any) (list []string) {
	all, ok := value.([]any)
	if !ok {
		return []string{fmt.Sprintf("not a list: %v", value)}
	}
	for _, one := range all {
		list = append(list, fmt.Sprint(one))
	}
	return list
}
