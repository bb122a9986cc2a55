package console

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/platform/appframe"
)

//go:embed all:dist
var built embed.FS

// Options say where the console is.
type Options struct {
	// Prefix is the path that the console is mounted under, such as /tools: it begins with a slash and does
	// not end with one. Empty for the root of the server. The API is under the same prefix.
	Prefix string
	// Development says on every page that the server is for its own machine.
	Development bool
	// TLS says that browsers reach the server by https alone.
	TLS bool
	// ContentOrigin is another origin of the same server, such as https://content.example.com: the page in which apps
	// of tools are shown is there, and not at the console's. Empty for the console's own.
	ContentOrigin string
}

// Handler serves the console. It answers what it does not have with 404.
func Handler(o Options) (http.Handler, error) {
	dist, err := fs.Sub(built, "dist")
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	return newHandler(o, dist)
}

// newHandler serves the files of a build.
func newHandler(o Options, dist fs.FS) (http.Handler, error) {
	if o.Prefix != "" && (!strings.HasPrefix(o.Prefix, "/") || path.Clean(o.Prefix) != o.Prefix) {
		return nil, fmt.Errorf("console: the prefix %q is not a path such as /tools", o.Prefix)
	}
	h := &handler{options: o}
	raw, err := fs.ReadFile(dist, "BUILD.json")
	if err != nil {
		return nil, fmt.Errorf("console: reading the build: %w", err)
	}
	if err := json.Unmarshal(raw, &h.build); err != nil {
		return nil, fmt.Errorf("console: reading the build: %w", err)
	}
	if h.assets, err = readAssets(dist, h.build.Hash); err != nil {
		return nil, err
	}
	page, err := fs.ReadFile(dist, "index.html")
	if err != nil {
		return nil, fmt.Errorf("console: reading the page: %w", err)
	}
	if o.ContentOrigin == "" {
		h.apps = appframe.Handler(appframe.Options{TLS: o.TLS})
	}
	if h.page, err = template.New("index.html").Parse(string(page)); err != nil {
		return nil, fmt.Errorf("console: reading the page: %w", err)
	}
	return h, nil
}

// Serves reports whether a path, without the prefix, is the console's.
func Serves(p string) bool {
	return p == "/" || p == "/login" || p == "/t" || p == appframe.Path || strings.HasPrefix(p, "/t/") ||
		strings.HasPrefix(p, assetsPath)
}

// Build says what dist was built from.
type Build struct {
	Source string `json:"source"` // The sha256 of the sources, as a test computes it.
	Hash   string `json:"hash"`   // Of the result, for the paths of assets.
}

type handler struct {
	options Options
	build   Build
	assets  map[string]asset
	page    *template.Template
	apps    http.Handler // The page in which apps are shown; nil where it is at another origin.
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at, ok := strings.CutPrefix(r.URL.Path, h.options.Prefix)
	if at == "" && ok {
		http.Redirect(w, r, h.options.Prefix+"/", http.StatusPermanentRedirect)
		return
	}
	switch {
	case !ok || !Serves(at) || at == appframe.Path && h.apps == nil:
		http.NotFound(w, r)
	case at == appframe.Path:
		h.apps.ServeHTTP(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the console is read with GET", http.StatusMethodNotAllowed)
	case strings.HasPrefix(at, assetsPath):
		h.serveAsset(w, r, at)
	case !wantsPage(r):
		http.Error(w, "this is a page: accept text/html", http.StatusNotAcceptable)
	default:
		h.servePage(w, r)
	}
}

// wantsPage reports whether the client takes a page.
func wantsPage(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return accept == "" || strings.Contains(accept, "text/html") || strings.Contains(accept, "*/*")
}

// config is what the pages have to know before they ask.
type config struct {
	Prefix      string `json:"prefix"`
	Build       string `json:"build"`
	Nonce       string `json:"nonce"`
	Development bool   `json:"development"`
	Apps        string `json:"apps"` // The address of the page in which apps are shown.
}

func (h *handler) servePage(w http.ResponseWriter, r *http.Request) {
	raw := make([]byte, 18)
	_, _ = rand.Read(raw) // It never fails.
	nonce := base64.RawURLEncoding.EncodeToString(raw)
	settings := config{
		Prefix: h.options.Prefix, Build: h.build.Hash, Nonce: nonce, Development: h.options.Development,
		Apps: h.options.Prefix + appframe.Path,
	}
	if h.options.ContentOrigin != "" {
		settings.Apps = h.options.ContentOrigin + appframe.Path
	}
	about, err := json.Marshal(settings)
	if err == nil {
		var page bytes.Buffer
		err = h.page.Execute(&page, map[string]string{
			"Assets": h.options.Prefix + assetsPath + h.build.Hash, "Config": string(about),
		})
		if err == nil {
			h.headers(w.Header(), policy(nonce, h.options.ContentOrigin))
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Cache-Control", "no-store") // It has a nonce, and names the assets of this build.
			if r.Method == http.MethodGet {
				_, _ = page.WriteTo(w) // An error cannot be reported any more.
			}
			return
		}
	}
	http.Error(w, "the page could not be made", http.StatusInternalServerError)
}

// policy is the same under every prefix: paths are not in it. The only frame is that of apps.
func policy(nonce, content string) string {
	frames := "'self'"
	if content != "" {
		frames = content
	}
	return strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self' 'nonce-" + nonce + "'",
		"img-src 'self' blob: data:", "font-src 'self'", "connect-src 'self'", "frame-src " + frames, "form-action 'self'",
		"base-uri 'none'", "frame-ancestors 'none'", "object-src 'none'", "require-trusted-types-for 'script'",
		"trusted-types toolcrib 'allow-duplicates'",
	}, "; ")
}

func (h *handler) headers(to http.Header, csp string) {
	to.Set("Content-Security-Policy", csp)
	to.Set("Cross-Origin-Opener-Policy", "same-origin")
	to.Set("Cross-Origin-Resource-Policy", "same-origin")
	to.Set("X-Content-Type-Options", "nosniff")
	to.Set("Referrer-Policy", "same-origin")
	to.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=(), display-capture=()")
	if h.options.TLS {
		to.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// serveAsset serves a file of this build. One of another build is not there: the page then asks to be
// loaded again.
func (h *handler) serveAsset(w http.ResponseWriter, r *http.Request, at string) {
	a, ok := h.assets[at]
	h.headers(w.Header(), "default-src 'none'; sandbox")
	if !ok {
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, "there is no such file in this build of the console", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", a.media)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Vary", "Accept-Encoding")
	content := a.raw
	if a.packed != nil && acceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		content = a.packed
	}
	if r.Method == http.MethodGet {
		_, _ = w.Write(content) // As above.
	}
}

func acceptsGzip(r *http.Request) bool {
	codings := strings.Split(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",")
	return slices.ContainsFunc(codings, func(c string) bool {
		name, weight, _ := strings.Cut(strings.TrimSpace(c), ";")
		return name == "gzip" && strings.ReplaceAll(weight, " ", "") != "q=0"
	})
}
