package api

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// Limits of the head of a request. The server's own limit of headers has to be
// greater, or it closes connections before a problem can be returned.
const (
	MaxHeaderBytes = 64 << 10
	MaxURIBytes    = 8 << 10
)

// limitHead refuses requests whose URI or headers are too long.
func limitHead(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := len(r.URL.RequestURI()); n > MaxURIBytes {
			writeProblem(
				w, r, refusal(v1.URITooLong, fmt.Sprintf("path and query have %d bytes; the limit is %d", n, MaxURIBytes)),
			)
			return
		}
		size := 0
		for name, values := range r.Header {
			for _, value := range values {
				size += len(name) + len(value) + len(": \r\n")
			}
		}
		if size > MaxHeaderBytes {
			writeProblem(
				w, r, refusal(v1.HeadersTooLarge, fmt.Sprintf("the headers have %d bytes; the limit is %d", size, MaxHeaderBytes)),
			)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refusePath responds to a request for an unknown path.
func refusePath(w http.ResponseWriter, r *http.Request) {
	writeProblem(w, r, refusal(v1.NoSuchEndpoint, "there is no such endpoint; /openapi.json and /docs list them"))
}

// refuseMethod responds to a method that a path does not have, and lists those it
// has.
func refuseMethod(router *chi.Mux) http.HandlerFunc {
	methods := []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	}
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range methods {
			asked := method
			if method == http.MethodHead { // Served as a GET.
				asked = http.MethodGet
			}
			if router.Match(chi.NewRouteContext(), asked, r.URL.Path) {
				allowed = append(allowed, method)
			}
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		writeProblem(w, r, refusal(v1.MethodNotAllowed, "the endpoint only has the methods "+strings.Join(allowed, ", ")))
	}
}
