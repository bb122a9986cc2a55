package serve

import (
	"net/http"
	"net/url"
	"strings"
)

// host returns the host and port of an address.
func host(address string) string {
	_, rest, _ := strings.Cut(strings.ToLower(address), "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// origin returns the scheme, host and port of an address.
func origin(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return address
}

// prefixOf returns the path that an address has the server under; empty for the root.
func prefixOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.Path, "/")
}

// mounted serves a handler under a prefix, for proxies that pass paths on as they are, and at the root, for those that
// take the prefix off. Addresses of this server in Location headers get the prefix.
func mounted(prefix string, next http.Handler) http.Handler {
	if prefix == "" {
		return next
	}
	below := http.StripPrefix(prefix, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = &located{ResponseWriter: w, prefix: prefix}
		switch rest, ok := strings.CutPrefix(r.URL.Path, prefix); {
		case ok && rest == "":
			http.Redirect(w, r, "/", http.StatusPermanentRedirect)
		case ok && rest[0] == '/':
			below.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// under gives a handler paths that begin with a prefix.
func under(prefix string, next http.Handler) http.Handler {
	if prefix == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := *r.URL
		at.Path = prefix + at.Path
		if at.RawPath != "" {
			at.RawPath = prefix + at.RawPath
		}
		to := *r
		to.URL = &at
		next.ServeHTTP(w, &to)
	})
}

// located puts a prefix before the path of a Location header.
type located struct {
	http.ResponseWriter
	prefix string
}

// WriteHeader implements [http.ResponseWriter].
func (l *located) WriteHeader(status int) {
	at := l.Header().Get("Location")
	if strings.HasPrefix(at, "/") && !strings.HasPrefix(at, "//") {
		l.Header().Set("Location", l.prefix+at)
	}
	l.ResponseWriter.WriteHeader(status)
}

// Flush implements [http.Flusher].
func (l *located) Flush() { _ = http.NewResponseController(l.ResponseWriter).Flush() }

// Unwrap is for [http.ResponseController].
func (l *located) Unwrap() http.ResponseWriter { return l.ResponseWriter }
