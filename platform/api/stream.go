package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// StreamConfig configures streams of events.
type StreamConfig struct {
	// Heartbeat is how often a stream sends a comment and checks again the key it
	// was opened with. Defaults to 15 s.
	Heartbeat time.Duration
	// WriteTimeout is how long a write to a client may take before the client
	// is disconnected. Defaults to 10 s.
	WriteTimeout time.Duration
	// PerTenant is how many streams a tenant may have open at this server.
	// Defaults to 200.
	PerTenant int
	// TopicsPerTenant is how many topics a tenant may follow at this server with its streams of topics: each is read
	// by itself. Defaults to 1000.
	TopicsPerTenant int
}

func (c StreamConfig) withDefaults() StreamConfig {
	if c.Heartbeat <= 0 {
		c.Heartbeat = 15 * time.Second
	}
	if c.WriteTimeout <= 0 {
		c.WriteTimeout = 10 * time.Second
	}
	if c.PerTenant <= 0 {
		c.PerTenant = 200
	}
	if c.TopicsPerTenant <= 0 {
		c.TopicsPerTenant = 1000
	}
	return c
}

// streamRetry is the reconnection delay that streams send to clients.
const streamRetry = time.Second

// streamPage is how many events are read at a time.
const streamPage = 200

// streamBuffer is after how many bytes a stream flushes. Its buffer holds that
// many bytes and one event.
const streamBuffer = 64 << 10

type stoppingKey struct{}

// WithStopping returns a context for the requests of a server that begins to
// stop when done is closed: streams then end, so that it need not wait for them,
// and clients connect to the next one.
func WithStopping(ctx context.Context, done <-chan struct{}) context.Context {
	return context.WithValue(ctx, stoppingKey{}, done)
}

// stopping returns the channel of [WithStopping]; without one it returns nil,
// which is never ready.
func stopping(ctx context.Context) <-chan struct{} {
	done, _ := ctx.Value(stoppingKey{}).(<-chan struct{})
	return done
}

// asksForStream reports whether a request is answered with a stream, which has no
// time limit.
func asksForStream(r *http.Request) bool {
	if of, isTool := strings.CutPrefix(r.URL.Path, "/v1/tools/"); isTool && r.Method == http.MethodPost {
		return strings.HasSuffix(of, "/test/stream") || of == "import/openapi/stream"
	}
	if isMCP(r) {
		return r.Method == http.MethodGet
	}
	isRun := strings.HasPrefix(r.URL.Path, "/v1/runs/") || strings.HasPrefix(r.URL.Path, "/v1/spaces/")
	isEvents := strings.HasSuffix(r.URL.Path, "/events")
	if r.URL.Path == "/v1/stream" {
		return r.Method == http.MethodGet
	}
	return r.Method == http.MethodGet && (r.URL.Path == "/v1/events" || isRun && isEvents) &&
		acceptsStream(r.Header.Get("Accept"))
}

func acceptsStream(accept string) bool {
	return slices.ContainsFunc(strings.Split(accept, ","), func(part string) bool {
		mediaType, _, _ := strings.Cut(part, ";")
		return strings.EqualFold(strings.TrimSpace(mediaType), v1.StreamType)
	})
}

// frame is an event as streams send it.
type frame struct {
	id        string // The cursor behind it; empty if the stream cannot resume there.
	eventType tool.EventType
	data      []byte

	run, call string // Of an event.
	at        time.Time
}

// passage is what a stream writes at once.
type passage struct {
	frames []frame
	end    *v1.StreamEnd // Set if nothing follows frames.
}

func frameOf(id string, e tool.Event) (frame, error) {
	data, err := json.Marshal(e)
	if err != nil {
		return frame{}, fmt.Errorf("writing event %d of run %s: %w", e.Seq, e.RunID, err)
	}
	return frame{id: id, eventType: e.Type, data: data, run: e.RunID, call: e.InvocationID, at: e.At}, nil
}

// subscription is one client's stream.
type subscription struct {
	topic store.Wake
	after string // The cursor behind what the client has.
	names v1.Names
	read  func(ctx context.Context, after string) (passage, error)
	needs string // The permission to follow; RunsRead when empty.
	// member fails where a principal may not follow any more, beside the permission. Nil for no such rule.
	member func(ctx context.Context, p tool.Principal) error
	shown  mask
	place  func()        // Releases the slot of the stream.
	again  func() string // Why the client may not go on with it; empty where it may.
}

// follow writes the stream to the client until it ends, the client disconnects
// or is too slow, or the server stops.
func (s *server) follow(ctx huma.Context, p tool.Principal, sub subscription, first passage) {
	defer sub.place()
	r, w := humachi.Unwrap(ctx)
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", v1.StreamType)
		return
	}
	s.followed(r.Context(), sub.topic)
	sub.again = func() string {
		switch {
		case !s.stillAllowed(ctx, p, cmp.Or(sub.needs, RunsRead), sub.member):
			return "the key is no longer valid"
		case !s.masksAs(ctx.Context(), p.Tenant, sub.shown):
			return masksOtherwise
		}
		return ""
	}
	out := &eventWriter{w: w, rc: http.NewResponseController(w), timeout: s.cfg.Streams.WriteTimeout, names: sub.names}
	err := out.open(sub.after)
	if err == nil {
		err = s.pump(r.Context(), out, sub, first)
	}
	level := slog.LevelDebug // Most streams end because the client disconnects.
	if err != nil && r.Context().Err() == nil && !errors.Is(err, errCutOff) && tool.KindOf(err) == tool.InternalError {
		level = slog.LevelError
	}
	s.log.LogAttrs(r.Context(), level, "a stream has ended", slog.String("tenant_id", string(sub.topic.Tenant)),
		slog.String("run_id", sub.topic.RunID), slog.String("trace_id", traceID(r.Context())), slog.Any("reason", err))
}

// pump writes passages as they arrive. The first was read before the response
// began, to report errors as problems.
func (s *server) pump(ctx context.Context, out *eventWriter, sub subscription, first passage) error {
	f := s.hub.join(ctx, sub.topic)
	defer f.leave()
	beat := time.NewTicker(s.cfg.Streams.Heartbeat)
	defer beat.Stop()
	ready := make(chan struct{})
	close(ready)
	news, current := (<-chan struct{})(ready), first // What was read before joining may miss what came since.
	for {
		if err := out.passage(current); err != nil || current.end != nil {
			return err
		}
		if n := len(current.frames); n > 0 {
			sub.after, news = current.frames[n-1].id, ready
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-stopping(ctx):
			return out.comment("the server stops: connect again")
		case <-beat.C:
			if why := sub.again(); why != "" {
				return out.comment(why)
			}
			s.followed(ctx, sub.topic)
			if err := out.comment("alive"); err != nil {
				return err
			}
			current = passage{}
			continue
		case <-news:
		}
		news = f.news()
		var err error
		if current, err = f.read(ctx, sub.after, sub.read); err != nil {
			if !passing(err) || ctx.Err() != nil {
				return err
			}
			current = passage{} // The poll tries again.
		}
	}
}

// masksOtherwise ends streams that were opened when the tenant masked more, or less.
const masksOtherwise = "what the tenant masks has changed: connect again"

// followLease is how long a follower counts after its last heartbeat: several
// heartbeats, of which one may be late.
func (s *server) followLease() time.Duration { return 3 * s.cfg.Streams.Heartbeat }

// followed records that the output of a run has a follower, so that models are
// asked to stream. If that fails, the stream has events only.
func (s *server) followed(ctx context.Context, topic store.Wake) {
	if topic.RunID == "" || strings.HasPrefix(topic.RunID, spaceTopic) {
		return
	}
	if err := s.cfg.Store.FollowRun(ctx, topic.Tenant, topic.RunID, s.followLease()); err != nil && ctx.Err() == nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "recording a follower failed: models are not asked to stream for it",
			slog.String("tenant_id", string(topic.Tenant)), slog.String("run_id", topic.RunID), slog.Any("error", err))
	}
}

// passing reports whether an error is transient.
func passing(err error) bool {
	kind := tool.KindOf(err)
	return kind == tool.Unavailable || kind == tool.Timeout || kind == tool.Cancelled
}

// stillAllowed reports whether the key or session that a stream was opened with still
// permits it. If that cannot be checked at the moment, it does.
func (s *server) stillAllowed(
	ctx huma.Context, p tool.Principal, needs string, member func(context.Context, tool.Principal) error,
) bool {
	r, _ := humachi.Unwrap(ctx)
	now, err := s.again(ctx.Context(), r)
	if err != nil {
		return passing(err)
	}
	if now.Tenant != p.Tenant || !now.May(needs) || member == nil {
		return now.Tenant == p.Tenant && now.May(needs)
	}
	err = member(ctx.Context(), now)
	return err == nil || passing(err)
}

// errCutOff says that a client is too slow: a write timed out.
var errCutOff = errors.New("the client does not read the stream")

// eventWriter writes server-sent events. Every write has a deadline, so that a
// client that does not read blocks its own connection only.
type eventWriter struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	timeout time.Duration
	names   v1.Names
	buf     bytes.Buffer
}

// open starts the response. It sends the client's cursor first, so that the
// client can resume before the first event.
func (e *eventWriter) open(after string) error {
	// The server's deadlines are for requests; streams set their own.
	if err := e.rc.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("opening the stream: %w", err)
	}
	h := e.w.Header()
	h.Set("Content-Type", v1.StreamType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // Proxies must not buffer it.
	h.Add("Vary", "Accept")
	e.w.WriteHeader(http.StatusOK)
	fmt.Fprintf(&e.buf, "retry: %d\n", streamRetry.Milliseconds())
	if after != "" {
		fmt.Fprintf(&e.buf, "id: %s\n", after)
	}
	e.buf.WriteByte('\n')
	return e.flush()
}

// passage writes events, and the end after the last.
func (e *eventWriter) passage(b passage) error {
	for _, f := range b.frames {
		if f.id != "" {
			fmt.Fprintf(&e.buf, "id: %s\n", f.id)
		}
		fmt.Fprintf(&e.buf, "event: %s\ndata: %s\n\n", e.names.Of(f.eventType), f.data)
		if e.buf.Len() < streamBuffer {
			continue
		}
		if err := e.flush(); err != nil {
			return err
		}
	}
	if b.end != nil {
		data, err := json.Marshal(b.end)
		if err != nil {
			return fmt.Errorf("writing the end: %w", err)
		}
		fmt.Fprintf(&e.buf, "event: %s\ndata: %s\n\n", v1.EventEnd, data)
	}
	if e.buf.Len() == 0 {
		return nil
	}
	return e.flush()
}

// comment writes a line that clients ignore.
func (e *eventWriter) comment(text string) error {
	fmt.Fprintf(&e.buf, ": %s\n\n", text)
	return e.flush()
}

func (e *eventWriter) flush() error {
	if err := e.rc.SetWriteDeadline(time.Now().Add(e.timeout)); err != nil {
		return fmt.Errorf("setting the deadline of a write: %w", err)
	}
	if _, err := e.buf.WriteTo(e.w); err != nil {
		return errors.Join(errCutOff, err)
	}
	if err := e.rc.Flush(); err != nil {
		return errors.Join(errCutOff, err)
	}
	return nil
}
