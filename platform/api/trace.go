package api

import (
	"context"
	"net/http"
	"regexp"
	"strings"

	"github.com/google/uuid"
)

// TraceHeader carries the trace id of a request, in the answer always and in
// the request if the caller names it.
const TraceHeader = "X-Request-Id"

type traceKey struct{}

var tracePattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// trace names each request: as the caller does, by a W3C traceparent or
// [TraceHeader], else anew.
func trace(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(TraceHeader)
		if parts := strings.Split(r.Header.Get("Traceparent"), "-"); len(parts) == 4 && len(parts[1]) == 32 {
			id = parts[1]
		}
		if !tracePattern.MatchString(id) {
			id = strings.ReplaceAll(uuid.NewString(), "-", "")
		}
		w.Header().Set(TraceHeader, id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), traceKey{}, id)))
	})
}

func traceID(ctx context.Context) string {
	id, _ := ctx.Value(traceKey{}).(string)
	return id
}
