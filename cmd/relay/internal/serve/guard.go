package serve

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
)

// policy lets a page load what this server has, and nothing else: neither a script in the page nor another address.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// cookieName names the cookie that stands for the token. Its path is secret: browsers send cookies of 127.0.0.1 to every port.
const cookieName = "relay"

// guard answers who has the token, from a page of this server.
type guard struct {
	pages   http.Handler
	control bool // forms are for them, too

	base, port    string // path of all pages, with a slash at its end
	token, cookie string // secrets: of the first address, and of the cookie
	once          atomic.Pointer[string]
}

// ServeHTTP passes on what is allowed.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	for name, value := range map[string]string{
		"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "same-origin", // without one, forms have no origin
		"Cache-Control":   "no-store", "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
	} {
		h.Set(name, value)
	}
	switch why := g.foreign(r); {
	case why != "":
		http.Error(w, why, http.StatusForbidden)
	case r.URL.Path == "/favicon.ico": // browsers ask for it themselves
		w.WriteHeader(http.StatusNoContent)
	case g.admit(w, r):
	case !g.known(r):
		http.Error(w, "Open the address that relay serve has printed: it has the token.", http.StatusForbidden)
	case r.Method == http.MethodPost && !g.control:
		http.Error(w, "This page only shows. relay serve --control also lets you decide.", http.StatusForbidden)
	default:
		g.pages.ServeHTTP(w, r)
	}
}

// foreign says why a request may come from another page, or from a name that was made to lead here; "": it does not.
func (g *guard) foreign(r *http.Request) string {
	host, port, err := net.SplitHostPort(r.Host)
	if ip := net.ParseIP(host); err != nil || port != g.port || host != "localhost" && !ip.IsLoopback() {
		return "relay serve answers to 127.0.0.1 and localhost only."
	}
	if from := r.Header.Values("Origin"); len(from) > 0 && !slices.Equal(from, []string{"http://" + r.Host}) {
		return "relay serve does not answer to other pages."
	}
	site := r.Header.Get("Sec-Fetch-Site") // not of every browser
	if site != "" && site != "same-origin" && site != "none" && (r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate") {
		return "relay serve does not answer to other pages."
	}
	return ""
}

// admit gives the cookie to a request with the token, and sends it on without it.
func (g *guard) admit(w http.ResponseWriter, r *http.Request) bool {
	given := r.URL.Query().Get("token")
	if given == "" || r.URL.Path != g.base || r.Method != http.MethodGet || !same(given, g.token) && !g.spend(given) {
		return false
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: g.cookie, Path: g.base, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Refresh", "0; url="+g.base) // after a redirect from elsewhere a browser would not send the cookie
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("relay: one moment\n")) // a browser that is gone does not matter
	return true
}

// known reports whether a request has the cookie.
func (g *guard) known(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(cookieName), func(c *http.Cookie) bool { return same(c.Value, g.cookie) })
}

// spend accepts the token that the browser was opened with, once: other programs can see how it was called.
func (g *guard) spend(given string) bool {
	once := g.once.Load()
	return once != nil && same(given, *once) && g.once.CompareAndSwap(once, nil)
}

// onceToken returns a token for one use.
func (g *guard) onceToken() string {
	token := rand.Text()
	g.once.Store(&token)
	return token
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
