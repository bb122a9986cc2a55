package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/cors"
)

// checkOrigins fails for what is not the origin of a page, as a browser sends it (RFC 6454).
func checkOrigins(origins []string) error {
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.Scheme+"://"+u.Host != origin ||
			strings.Contains(origin, "*") {
			return fmt.Errorf("origin %q: expected the scheme and the host of a page, such as https://app.example.com", origin)
		}
	}
	return nil
}

// allowOrigins lets the pages of some origins call the API from a browser, and those of the Temporal
// UI its codec alone. A page sends its key or token itself: nothing is sent that it does not know.
func allowOrigins(origins, codec []string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		all, ui := next, next
		if len(origins) > 0 {
			all = cors.Handler(corsOptions(origins))(next)
		}
		if len(codec) > 0 {
			options := corsOptions(codec)
			options.AllowedMethods = []string{http.MethodPost}
			options.AllowedHeaders = []string{"Accept", "Authorization", "Authorization-Extras", "Content-Type", "X-Namespace"}
			ui = cors.Handler(options)(next)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, codecPath) {
				ui.ServeHTTP(w, r)
				return
			}
			all.ServeHTTP(w, r)
		})
	}
}

func corsOptions(origins []string) cors.Options {
	return cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		},
		AllowedHeaders: []string{
			"Accept", "Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID",
			"Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id",
		},
		ExposedHeaders: []string{
			"ETag", "Link", "Location", "Mcp-Session-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
			"Retry-After", "WWW-Authenticate",
		},
		MaxAge: int((10 * time.Minute).Seconds()),
	}
}
