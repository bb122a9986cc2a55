package appframe

import (
	_ "embed"
	"net/http"
)

// Path is that of the page.
const Path = "/_sandbox"

// Parameters of the page: the origins of its policy, each as often as there are some.
const (
	ParamConnect  = "connect"
	ParamResource = "resource"
)

//go:embed sandbox.html
var page []byte

// Options of the page.
type Options struct {
	// Around is the origin of the page that may have this one in a frame. Defaults to that of the page itself.
	Around string
	// TLS says that browsers reach the server by https alone.
	TLS bool
}

// Handler serves the page. Its policy is of the origins that its address names: the page is empty, and shows what the
// page around it sends, which has them from the API. Opened by itself or in another page, it does nothing.
func Handler(o Options) http.Handler {
	around := o.Around
	if around == "" {
		around = "'self'"
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "the page is read with GET", http.StatusMethodNotAllowed)
			return
		}
		q := r.URL.Query()
		to := w.Header()
		to.Set("Content-Security-Policy",
			Policy(q[ParamConnect], q[ParamResource])+"; frame-ancestors "+around+"; sandbox allow-scripts")
		to.Set("Content-Type", "text/html; charset=utf-8")
		to.Set("Cache-Control", "no-store")
		to.Set("X-Content-Type-Options", "nosniff")
		to.Set("X-Dns-Prefetch-Control", "off")
		to.Set("Referrer-Policy", "no-referrer")
		to.Set("X-Robots-Tag", "noindex")
		to.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), hid=(), "+
			"midi=(), display-capture=(), clipboard-read=(), clipboard-write=(), fullscreen=()")
		if o.TLS {
			to.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if r.Method == http.MethodGet {
			_, _ = w.Write(page) // An error cannot be reported any more.
		}
	})
}
