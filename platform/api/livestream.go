package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// Topics of the stream. Those that end with a colon have a name behind it.
const (
	topicRuns      = "runs"
	topicApprovals = "approvals"
	topicWaiting   = "waiting"
	topicRun       = "run:"
	topicSpace     = "space:"
)

const (
	maxTopics = 32
	// maxBehind is how many events a client may have missed of a topic that it goes on with: beyond that, reading
	// again is less than what is sent.
	maxBehind = 5000
	// gather is how long after some changes of lists the next are collected before they are sent.
	gather = 100 * time.Millisecond
	// authorityAge is how old the authority of a connection may be.
	authorityAge = 10 * time.Second
)

type liveInput struct {
	Topics      string `query:"topics" maxLength:"4000" doc:"What to follow, with commas between: runs, approvals, waiting, run:ID, space:NAME; each may have a cursor behind @, from which it goes on" example:"runs,approvals,run:01975c2e-7d1a-7c3e-9f00-0000000000c1@12"`
	LastEventID string `header:"Last-Event-ID" maxLength:"4000" doc:"Id of the last received event, as browsers send it: topics go on behind it"` //nolint:tagliatelle // As the standard spells it.
}

type liveTopicsInput struct {
	Connection string `path:"connection" maxLength:"64" doc:"As the stream's first event names it" example:"5f0c2a9d1b7e4c3f8a6d0e2b4c6f8a1d"`
	Body       v1.LiveTopics
}

func (s *server) registerLive() {
	handle(s, route{
		id: "followTopics", method: http.MethodGet, path: "/v1/stream", tag: "runs", permission: RunsRead,
		or: []string{ApprovalsRead, ResultsSubmit, SpacesRead}, summary: "Follow several topics in one stream",
		detail: "Server-sent events for pages that show several things at once. The first event, `hello`, names the " +
			"connection, whose topics can be changed. Each topic begins with `subscribed` and its cursor: read what you " +
			"show then, and apply what comes behind. Topics are\n\n" +
			"- `runs`: `changes` of runs and calls, by their ids (`runs.read`);\n" +
			"- `approvals`: `changes` of requests for approval (`approvals.read`);\n" +
			"- `waiting`: `changes` of pending tool calls and requests for input (`results.submit`);\n" +
			"- `run:ID`: each `event` of a run, with output, until `end` (`runs.read`);\n" +
			"- `space:NAME`: each `message` of a space (`spaces.read`).\n\n" +
			"`resync` says that events were left out, because the cursor is too old or of another database. `closed` says " +
			"that a topic is not followed, or not any more: it is not there, or may not be seen. The `id` of an event holds " +
			"the cursors of all topics. A comment is sent every 15 seconds; the key or session is looked at again every 10, " +
			"and when it is revoked at the same server. A connection counts as one stream of the tenant, which follows " +
			"at most 1000 topics at a server.",
	}, s.followTopics)
	handle(s, route{
		id: "setTopics", method: http.MethodPost, path: "/v1/stream/{connection}/topics", tag: "runs", permission: RunsRead,
		or: []string{ApprovalsRead, ResultsSubmit, SpacesRead}, ephemeral: true,
		summary: "Change the topics of a stream",
		detail: "Of one that the same key or person opened at the same server: elsewhere it is not found, and a new stream " +
			"with the topics does the same.",
	}, s.setTopics)
	s.api.OpenAPI().Paths["/v1/stream"].Get.Responses["200"].Content = map[string]*huma.MediaType{
		v1.StreamType: {Schema: &huma.Schema{Type: huma.TypeString, Description: "Server-sent events with JSON as data"}},
	}
}

// parseTopic returns the name of a topic, and the cursor behind it.
func parseTopic(text string) (topic, cursor string) {
	topic, cursor, _ = strings.Cut(strings.TrimSpace(text), "@")
	return topic, cursor
}

// topicsOf parses a list of topics. Those of the last event that was received go on behind it.
func topicsOf(list []string, last string) (map[string]string, []string, error) {
	cursors, order := map[string]string{}, []string(nil)
	for _, text := range list {
		topic, cursor := parseTopic(text)
		if topic == "" {
			continue
		}
		if _, twice := cursors[topic]; !twice {
			order = append(order, topic)
		}
		cursors[topic] = cursor
	}
	for text := range strings.SplitSeq(last, ",") {
		if topic, cursor := parseTopic(text); cursor != "" {
			if _, asked := cursors[topic]; asked {
				cursors[topic] = cursor
			}
		}
	}
	if len(order) > maxTopics {
		return nil, nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.topics", Path: "topics", Msg: fmt.Sprintf("a stream has at most %d topics", maxTopics),
		}
	}
	return cursors, order, nil
}

func (s *server) followTopics(
	ctx context.Context, p tool.Principal, in *liveInput,
) (*body[func(huma.Context)], error) {
	cursors, order, err := topicsOf(strings.Split(in.Topics, ","), in.LastEventID)
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	place, refused := s.streams.begin(p.Tenant)
	if refused != nil {
		return nil, refused
	}
	return answer(func(ctx huma.Context) { //nolint:contextcheck // huma's context holds the request's.
		defer place()
		r, w := humachi.Unwrap(ctx)
		if r.Method == http.MethodHead {
			w.Header().Set("Content-Type", v1.StreamType)
			return
		}
		s.live(r.Context(), w, r, p, shown, cursors, order)
	}), nil
}

// live serves a connection until the client leaves, or its authority ends.
func (s *server) live(
	ctx context.Context, w http.ResponseWriter, r *http.Request, p tool.Principal, shown mask,
	cursors map[string]string, order []string,
) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	name := make([]byte, 16)
	_, _ = rand.Read(name) // It never fails.
	c := &connection{
		server: s, name: hex.EncodeToString(name), owner: p, browser: s.browserOf(r), shown: shown, ctx: ctx,
		parcels: make(chan parcel), check: make(chan struct{}, 1), of: map[string]*source{}, at: map[string]string{},
	}
	s.connections.add(c)
	defer s.connections.drop(c)
	out := &eventWriter{
		w: w, rc: http.NewResponseController(w), timeout: s.cfg.Streams.WriteTimeout, names: v1.CanonicalNames,
	}
	err := out.open("")
	if err == nil {
		err = out.passage(passage{frames: []frame{framed(v1.EventHello, v1.LiveHello{Connection: c.name})}})
	}
	if err == nil {
		_, refused := c.set(ctx, p, cursors, order)
		err = out.passage(passage{frames: closed(refused)})
	}
	if err == nil {
		err = c.write(out, r)
	}
	s.log.LogAttrs(ctx, slog.LevelDebug, "a stream has ended", slog.String("tenant_id", string(p.Tenant)),
		slog.String("trace_id", traceID(ctx)), slog.Any("reason", err))
}

// framed returns an event without an id.
func framed(name string, data any) frame {
	text, _ := json.Marshal(data) // Of types that marshal.
	return frame{eventType: tool.EventType(name), data: text}
}

func closed(refused []v1.LiveRefusal) (out []frame) {
	for _, r := range refused {
		out = append(out, framed(v1.EventClosed, r))
	}
	return out
}

func (s *server) setTopics(ctx context.Context, p tool.Principal, in *liveTopicsInput) (*body[v1.LiveState], error) {
	c := s.connections.find(in.Connection, p)
	if c == nil {
		return nil, &tool.Error{Kind: tool.NotFound, Op: "api.setTopics", Msg: "the stream is not open here"}
	}
	cursors, order, err := topicsOf(in.Body.Topics, "")
	if err != nil {
		return nil, err
	}
	topics, refused := c.set(ctx, p, cursors, order)
	return answer(v1.LiveState{Topics: topics, Refused: refused}), nil
}
