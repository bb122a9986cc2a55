package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// importBeat is how often a stream reports the progress of its import.
const importBeat = 500 * time.Millisecond

// streamImportOpenAPI reserves the stream and maps the document before it
// answers: a fault of the whole document is returned as a problem.
func (s *server) streamImportOpenAPI(
	ctx context.Context, p tool.Principal, in *body[v1.ImportOpenAPI],
) (out *body[func(huma.Context)], err error) {
	place, refused := s.streams.begin(p.Tenant)
	if refused != nil {
		return nil, refused
	}
	defer func() {
		if out == nil { // Otherwise the stream releases it.
			place()
		}
	}()
	planCtx, cancel := context.WithTimeout(ctx, s.cfg.RequestTimeout) // Of the mapping; the import lasts longer.
	defer cancel()
	plan, err := s.planImport(planCtx, p, in.Body)
	if err != nil {
		return nil, err
	}
	return answer(func(ctx huma.Context) { //nolint:contextcheck // huma's context holds the request's.
		defer place()
		s.followImport(ctx, plan)
	}), nil
}

// followImport runs an import and streams its progress, until it ends, the
// client disconnects or is too slow, or the server stops.
func (s *server) followImport(ctx huma.Context, plan *importing) {
	r, w := humachi.Unwrap(ctx)
	out := &eventWriter{
		w: w, rc: http.NewResponseController(w), timeout: s.cfg.Streams.WriteTimeout, names: v1.CanonicalNames,
	}
	runCtx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() { // The server's end is the import's.
		select {
		case <-stopping(runCtx):
			cancel()
		case <-runCtx.Done():
		}
	}()
	err := out.open("")
	if err == nil {
		err = s.writeImport(runCtx, out, plan, cancel)
	}
	if err != nil {
		s.log.LogAttrs(r.Context(), slog.LevelDebug, "a stream has ended",
			slog.String("tenant_id", string(plan.principal.Tenant)),
			slog.String("trace_id", traceID(r.Context())), slog.Any("reason", err))
	}
}

// writeImport runs the import and writes its progress and its result. A client
// that does not read ends the import.
func (s *server) writeImport(ctx context.Context, out *eventWriter, plan *importing, cancel func()) error {
	var last time.Time
	var broken error
	result, err := plan.run(ctx, func(p v1.ImportProgress) {
		if broken != nil || p.Done < p.Total && time.Since(last) < importBeat {
			return
		}
		last = time.Now()
		if broken = writeEvent(out, v1.EventImportProgress, p); broken != nil {
			cancel()
		}
	})
	switch {
	case broken != nil:
		return broken
	case err != nil:
		return writeEvent(out, v1.EventImportFailed, s.problem(ctx, "streamImportOpenAPI", err))
	default:
		return writeEvent(out, v1.EventImportResult, result)
	}
}

// writeEvent writes one event of a stream that does not belong to a run.
func writeEvent(out *eventWriter, name tool.EventType, of any) error {
	data, err := json.Marshal(of)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return out.passage(passage{frames: []frame{{eventType: name, data: data}}})
}
