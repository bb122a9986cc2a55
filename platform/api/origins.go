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

// allowOrigins lets the pages of some origins call the API from a browser. A page sends its
// key or token itself: nothing is sent that it does not know.
func allowOrigins(origins []string) func(http.Handler) http.Handler {
	return cors.Handler(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		},
		AllowedHeaders: []string{
			"Accept", "Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID",
		},
		ExposedHeaders: []string{"ETag", "Link", "Location", "Retry-After"},
		MaxAge:         int((10 * time.Minute).Seconds()),
	})
}
