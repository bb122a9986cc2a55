package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
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
	// gather is how long changes of lists are collected before they are sent.
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

// source is a topic as a connection follows it.
type source struct {
	topic string
	needs string
	wake  store.Wake
	after string
	lists bool // Changes are gathered.
	fresh bool // It has not sent its first event.
	stale bool // The first event says that events were left out.
	// member fails where a principal may not follow any more, beside the permission.
	member func(ctx context.Context, p tool.Principal) error
	read   func(ctx context.Context, after string) (passage, error)
	now    func(ctx context.Context) (int64, error)
	show   func(frames []frame, at v1.LiveTopic) ([]frame, error)
	stop   context.CancelFunc
	leave  func() // Releases its place among the topics of the tenant.
}

// parcel is what a source has for its connection.
type parcel struct {
	of     *source
	frames []frame
	cursor string
	over   bool // Nothing follows.
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

// write passes on what the sources have.
func (c *connection) write(out *eventWriter, r *http.Request) error {
	beat := time.NewTicker(c.server.cfg.Streams.Heartbeat)
	defer beat.Stop()
	look := time.NewTicker(min(authorityAge, c.server.cfg.Streams.Heartbeat))
	defer look.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return c.ctx.Err()
		case <-stopping(c.ctx):
			return out.comment("the server stops: connect again")
		case <-beat.C:
			c.heartbeat()
			if err := out.comment("alive"); err != nil {
				return err
			}
		case <-look.C:
			if ended, err := c.look(out, r); ended || err != nil {
				return err
			}
		case <-c.check:
			if ended, err := c.look(out, r); ended || err != nil {
				return err
			}
		case b := <-c.parcels:
			if !c.advance(b) {
				continue
			}
			if err := out.passage(passage{frames: b.frames}); err != nil {
				return err
			}
		}
	}
}

// look ends what the principal may not follow any more, and reports whether that is everything. What cannot be
// checked at the moment goes on.
func (c *connection) look(out *eventWriter, r *http.Request) (ended bool, err error) {
	now, err := c.server.again(c.ctx, r)
	switch {
	case err != nil && passing(err):
		return false, nil
	case err != nil || now.Tenant != c.owner.Tenant:
		return true, out.comment("the key is no longer valid")
	case !c.server.masksAs(c.ctx, c.owner.Tenant, c.shown):
		return true, out.comment(masksOtherwise)
	}
	var refused []v1.LiveRefusal
	for _, src := range c.sources() {
		if err := allowed(c.ctx, now, src); err != nil && !passing(err) {
			c.end(src)
			refused = append(refused, refusalOf(src.topic, err))
		}
	}
	if len(refused) == 0 {
		return false, nil
	}
	return false, out.passage(passage{frames: closed(refused)})
}

func allowed(ctx context.Context, p tool.Principal, src *source) error {
	if !p.May(src.needs) {
		return &tool.Error{
			Kind: tool.Denied, Op: "api.topics", Msg: "this key may not follow that: it lacks the permission " + src.needs,
		}
	}
	if src.member == nil {
		return nil
	}
	return src.member(ctx, p)
}

func refusalOf(topic string, err error) v1.LiveRefusal {
	p := problemOf(err)
	return v1.LiveRefusal{Topic: topic, Code: p.Code, Detail: cmp.Or(p.Detail, p.Title)}
}

// topicSource returns what a topic is for a principal who may follow it.
func (s *server) topicSource(
	ctx context.Context, p tool.Principal, topic, cursor string, shown mask,
) (*source, error) {
	src := &source{topic: topic, needs: RunsRead, wake: store.Wake{Tenant: p.Tenant}, after: cursor, fresh: true}
	id, isRun := strings.CutPrefix(topic, topicRun)
	space, isSpace := strings.CutPrefix(topic, topicSpace)
	switch {
	case topic == topicRuns, topic == topicApprovals, topic == topicWaiting:
		src.needs, src.lists = listTopics[topic].needs, true
		src.read = func(ctx context.Context, after string) (passage, error) {
			return s.readTenant(ctx, p.Tenant, after, shown)
		}
		src.now = func(ctx context.Context) (int64, error) {
			at, err := s.cfg.Store.EventHorizon(ctx, p.Tenant)
			return int64(at), err
		}
		src.show = changesOf(listTopics[topic].shows)
	case isRun:
		src.wake.RunID, src.show = id, eventsOf
		src.read = func(ctx context.Context, after string) (passage, error) {
			return s.readRun(ctx, p.Tenant, id, after, shown)
		}
		src.now = func(ctx context.Context) (int64, error) {
			run, err := s.cfg.Store.FindRun(ctx, p.Tenant, id)
			return run.LastSeq, err
		}
	case isSpace:
		src.needs, src.show = SpacesRead, messagesOf
		if err := s.spaceSource(ctx, p, src, space, shown); err != nil {
			return nil, err
		}
	default:
		return nil, &tool.Error{Kind: tool.Invalid, Op: "api.topics", Path: "topics", Msg: "there is no such topic"}
	}
	if err := allowed(ctx, p, src); err != nil {
		return nil, err
	}
	head, err := src.now(ctx)
	if err != nil {
		return nil, err
	}
	if cursor == "" {
		src.after = strconv.FormatInt(head, 10)
		return src, nil
	}
	at, err := strconv.ParseUint(cursor, 10, 63)
	if err != nil {
		return nil, badPlace()
	}
	if behind := head - int64(at); behind < 0 || behind > maxBehind {
		src.after, src.stale = strconv.FormatInt(head, 10), true
	}
	return src, nil
}

// spaceSource completes the source of a space, if the principal may see it: to others it does not exist.
func (s *server) spaceSource(ctx context.Context, p tool.Principal, src *source, slugOrID string, shown mask) error {
	if !p.May(SpacesRead) {
		return nil // It is refused by its permission, whether there is the space or not.
	}
	found, err := s.seen(ctx, p, slugOrID)
	if err != nil {
		return err
	}
	src.wake.RunID = spaceTopic + found.ID
	src.member = func(ctx context.Context, p tool.Principal) error {
		_, err := s.seen(ctx, p, found.ID)
		return err
	}
	src.read = func(ctx context.Context, after string) (passage, error) {
		return s.readSpace(ctx, p.Tenant, found.ID, after, shown)
	}
	src.now = func(ctx context.Context) (int64, error) {
		now, err := s.cfg.Store.FindSpace(ctx, p.Tenant, found.ID)
		return now.LastSeq, err
	}
	return nil
}

// pull reads a source until its context ends, and hands what it reads to the connection.
func (c *connection) pull(ctx context.Context, src *source) {
	defer src.leave()
	f := c.server.hub.join(ctx, src.wake)
	defer f.leave()
	c.server.followed(ctx, src.wake)
	first := parcel{of: src, cursor: src.after, frames: []frame{framed(v1.EventSubscribed, src.at())}}
	if src.stale {
		first.frames = append(first.frames, framed(v1.EventResync, src.at()))
	}
	for ok := c.hand(ctx, first); ok; {
		news := f.news()
		page, err := f.read(ctx, src.after, src.read)
		if err == nil && len(page.frames) > 0 {
			src.after = page.frames[len(page.frames)-1].id
		}
		var b parcel
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			b, err = src.parcel(page)
		case passing(err): // The poll tries again.
		default:
			b, err = src.resync(ctx)
		}
		switch {
		case err != nil && !passing(err):
			c.hand(ctx, parcel{of: src, over: true, frames: closed([]v1.LiveRefusal{refusalOf(src.topic, err)})})
			return
		case err == nil && b.of != nil:
			if ok = c.hand(ctx, b); !ok || b.over {
				return
			}
		}
		if len(page.frames) < streamPage {
			ok = src.sleep(ctx, news)
		}
	}
}

// sleep waits for news, and gathers those of lists.
func (src *source) sleep(ctx context.Context, news <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-news:
	}
	if !src.lists {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(gather):
		return true
	}
}

func (src *source) at() v1.LiveTopic { return v1.LiveTopic{Topic: src.topic, Cursor: src.after} }

// parcel returns what was read; without a source if that is nothing.
func (src *source) parcel(page passage) (parcel, error) {
	if len(page.frames) == 0 && page.end == nil {
		return parcel{}, nil
	}
	b := parcel{of: src, cursor: src.after}
	var err error
	if len(page.frames) > 0 {
		b.frames, err = src.show(page.frames, src.at())
	}
	if page.end != nil {
		b.over = true
		b.frames = append(b.frames, framed(v1.EventEnd, v1.LiveEnd{LiveTopic: src.at(), StreamEnd: *page.end}))
	}
	return b, err
}

// resync goes on from now: the cursor is of another database, or of one before it was restored.
func (src *source) resync(ctx context.Context) (parcel, error) {
	head, err := src.now(ctx)
	if err != nil {
		return parcel{}, err
	}
	src.after = strconv.FormatInt(head, 10)
	return parcel{of: src, cursor: src.after, frames: []frame{framed(v1.EventResync, src.at())}}, nil
}

// listTopics are the topics of lists: what they need, and which events change them.
var listTopics = map[string]struct {
	needs string
	shows func(tool.EventType) bool
}{
	topicRuns: {RunsRead, func(tool.EventType) bool { return true }},
	topicApprovals: {ApprovalsRead, func(e tool.EventType) bool {
		return slices.Contains([]tool.EventType{
			tool.EventNeedsApproval, tool.EventApproved, tool.EventEscalated, tool.EventRejected, tool.EventExpired,
			tool.EventCancelled,
		}, e)
	}},
	topicWaiting: {ResultsSubmit, func(e tool.EventType) bool {
		return slices.Contains([]tool.EventType{
			tool.EventPending, tool.EventResultReceived, tool.EventExpired, tool.EventCancelled, tool.EventCompleted,
			tool.EventFailed,
		}, e)
	}},
}

// changesOf returns the event of a page of events: what changed, each thing once.
func changesOf(shows func(tool.EventType) bool) func([]frame, v1.LiveTopic) ([]frame, error) {
	return func(frames []frame, at v1.LiveTopic) ([]frame, error) {
		out := v1.LiveChanges{LiveTopic: at}
		places := map[[2]string]int{}
		for _, f := range frames {
			if !shows(f.eventType) {
				continue
			}
			key := [2]string{f.run, f.call}
			i, known := places[key]
			if !known {
				i = len(out.Changes)
				places[key] = i
				out.Changes = append(out.Changes, v1.LiveChange{RunID: f.run, InvocationID: f.call})
			}
			c := &out.Changes[i]
			c.At = f.at
			if !slices.Contains(c.Types, f.eventType) {
				c.Types = append(c.Types, f.eventType)
			}
		}
		if len(out.Changes) == 0 {
			return nil, nil
		}
		return []frame{framed(v1.EventChanges, out)}, nil
	}
}

// eventsOf returns the events of a run, each with its own cursor.
func eventsOf(frames []frame, at v1.LiveTopic) ([]frame, error) {
	return each(v1.EventRunEvent, "event", frames, at)
}

func messagesOf(frames []frame, at v1.LiveTopic) ([]frame, error) {
	return each(v1.EventMessage, "message", frames, at)
}

// each puts what was read into events of a name, which have it as a member.
func each(name, member string, frames []frame, at v1.LiveTopic) ([]frame, error) {
	topic, err := json.Marshal(at.Topic)
	if err != nil {
		return nil, fmt.Errorf("writing the topic %q: %w", at.Topic, err)
	}
	out := make([]frame, len(frames))
	for i, f := range frames {
		var b bytes.Buffer
		fmt.Fprintf(&b, `{"topic":%s,"cursor":%q,%q:%s}`, topic, f.id, member, f.data)
		out[i] = frame{id: f.id, eventType: tool.EventType(name), data: b.Bytes()}
	}
	return out, nil
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
