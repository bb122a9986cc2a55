package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// StreamOptions are how a list of events is asked for as a stream. They are
// exported for the framework, which fills the fields of embedded structs only
// then.
type StreamOptions struct {
	Accept      string   `header:"Accept" hidden:"true"`
	LastEventID string   `header:"Last-Event-ID" maxLength:"64" doc:"Of a stream: id of the last received event, as browsers send it; takes precedence over after"` //nolint:tagliatelle // As the standard spells it.
	Names       v1.Names `query:"names" enum:"canonical,streaming,dispatch,confirmation" default:"canonical" doc:"Of a stream: the set of names of its events"`
}

// cursor returns where to go on.
func (o StreamOptions) cursor(after string) string {
	if o.LastEventID != "" {
		return o.LastEventID
	}
	return after
}

type listMessagesInput struct {
	ID     string `path:"id" maxLength:"64"`
	Last   int    `query:"last" minimum:"0" maximum:"200" doc:"Only so many messages, the last ones; all when absent"`
	First  int    `query:"first" minimum:"0" maximum:"200" doc:"Only so many messages, the first ones"`
	Cursor string `query:"cursor" maxLength:"300" doc:"Next of the previous answer: of last, those before it, and of first, those after it"`
}

type listEventsInput struct {
	ID    string `path:"id" maxLength:"64"`
	After int64  `query:"after" minimum:"0" doc:"Number of the last received event"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"200" doc:"Of a page; a stream has no limit"`
	StreamOptions
}

type tenantEventsInput struct {
	After string `query:"after" maxLength:"64" doc:"Cursor behind the last received event: next of a page, or id of a stream's event; \"now\" for future events only"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"200" doc:"Of a page; a stream has no limit"`
	StreamOptions
}

const streamDetail = "With `Accept: text/event-stream` the answer is a stream of server-sent events: `id` is the " +
	"cursor to resume from (as `Last-Event-ID` or `after`), `event` the name, `data` the event as JSON. A client that " +
	"resumes gets each event once. A comment is sent every 15 seconds. `names` selects other names of the " +
	"events of calls: `streaming` (tool.started, tool.streaming, tool.done, tool.error), `dispatch` " +
	"(tool_invocation_started, …_completed, …_failed), `confirmation` (confirmation_required, tool_use); the data keeps " +
	"the canonical `type`. A tenant with too many open streams is refused another (429)."

func (s *server) registerEvents() {
	handle(s, route{
		id: "listEvents", method: http.MethodGet, path: "/v1/runs/{id}/events", tag: "runs", permission: RunsRead,
		summary: "List or follow a run's events",
		detail: "A page holds the events after the number `after`, without the output between them.\n\n" + streamDetail +
			"\n\n" +
			"A stream holds the output too: `agent.output_appended` for the text of the model and `tool.output_appended` for " +
			"tools, with turn, attempt and text. Of a turn or call only the text of the highest attempt counts, and " +
			"`agent.turn` or the end of the call replaces it. Events and output are numbered without gaps. When the run has " +
			"ended and all was sent, the last event is `end`, with the run's status; a stream that stops without it was " +
			"interrupted. Reconnecting with `Last-Event-ID` to a stream that is complete returns 204, which makes browsers " +
			"stop reconnecting.",
	}, s.listEvents)
	handle(s, route{
		id: "listTenantEvents", method: http.MethodGet, path: "/v1/events", tag: "runs", permission: RunsRead,
		summary: "List or follow the events of all runs",
		detail: "Each event is sent once; those of a run in order, those of different runs in the order of their commits, " +
			"without output. A cursor is a number of the tenant, which a copy of the database on " +
			"another server keeps. One beyond the end of the stream is a conflict: it is of another database, or of a time " +
			"after the backup that this one was restored from.\n\n" + streamDetail +
			"\n\nThis stream has no end.",
	}, s.listTenantEvents)
	s.describeStream("/v1/runs/{id}/events", reflect.TypeFor[v1.Page[tool.Event]](), true)
	s.describeStream("/v1/events", reflect.TypeFor[v1.EventPage](), false)
}

// describeStream describes an answer that is a page or a stream.
func (s *server) describeStream(path string, page reflect.Type, ends bool) {
	doc := s.api.OpenAPI()
	responses := doc.Paths[path].Get.Responses
	responses["200"].Content = map[string]*huma.MediaType{
		"application/json": {Schema: doc.Components.Schemas.Schema(page, true, "Events")},
		v1.StreamType: {
			Schema: &huma.Schema{Type: huma.TypeString, Description: "Server-sent events; the data of each is a ToolEvent"},
		},
	}
	if ends {
		doc.Components.Schemas.Schema(reflect.TypeFor[v1.StreamEnd](), true, "StreamEnd")
		responses["204"] = &huma.Response{Description: "The stream has ended, and all of it was received"}
	}
}

// listMessages answers with the whole transcript, which a run's limits bound, or with its last messages.
func (s *server) listMessages(
	ctx context.Context, p tool.Principal, in *listMessagesInput,
) (*listed[agent.Message], error) {
	var messages []agent.Message
	var more bool
	place, err := openCursor(in.Cursor)
	var refused error
	switch {
	case err != nil || place != "" && !tool.ValidID(place):
		refused = badCursor()
	case in.Last > 0 && in.First > 0:
		refused = &tool.Error{Kind: tool.Invalid, Op: "api", Path: "first", Msg: "give either first or last"}
	}
	switch {
	case refused != nil: // Of a run that is not there, nothing is said but that.
		if _, err = s.cfg.Store.FindRun(ctx, p.Tenant, in.ID); err == nil {
			err = refused
		}
	case in.Last > 0 || in.First > 0 || place != "":
		messages, more, err = s.cfg.Store.TranscriptPage(ctx, p.Tenant, in.ID, store.TranscriptPlace{
			ID: place, Limit: cmp.Or(in.First, in.Last, v1.DefaultLimit), Forward: in.First > 0,
		})
	default:
		messages, err = s.cfg.Store.Transcript(ctx, p.Tenant, in.ID)
	}
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	out := v1.Page[agent.Message]{Items: make([]agent.Message, len(messages))}
	for i := range messages {
		out.Items[i] = shown.message(messages[i])
	}
	switch {
	case more && in.First > 0:
		out.Next = sealCursor(messages[len(messages)-1].ID)
	case more:
		out.Next = sealCursor(messages[0].ID)
	}
	return answer(out), nil
}

func (s *server) listEvents(
	ctx context.Context, p tool.Principal, in *listEventsInput,
) (*body[func(huma.Context)], error) {
	if acceptsStream(in.Accept) {
		return s.followRun(ctx, p, in)
	}
	events, err := s.cfg.Store.ListEvents(ctx, p.Tenant, in.ID, in.After, in.Limit)
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	for i := range events {
		events[i] = shown.event(events[i])
	}
	if events == nil {
		events = []tool.Event{}
	}
	return answerPage(v1.Page[tool.Event]{Items: events}), nil
}

// followRun reads the first page before it begins a stream, so that errors are
// returned as problems.
func (s *server) followRun(
	ctx context.Context, p tool.Principal, in *listEventsInput,
) (*body[func(huma.Context)], error) {
	after := in.cursor(strconv.FormatInt(in.After, 10))
	if _, err := strconv.ParseUint(after, 10, 63); err != nil {
		return nil, badPlace()
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	sub := subscription{
		shown: shown,
		topic: store.Wake{Tenant: p.Tenant, RunID: in.ID}, after: after, names: in.Names,
		read: func(ctx context.Context, after string) (passage, error) {
			return s.readRun(ctx, p.Tenant, in.ID, after, shown)
		},
	}
	return s.openStream(ctx, p, sub, in.LastEventID != "")
}

// openStream reserves a slot for a stream before reading its first page. A
// stream without further events has ended.
func (s *server) openStream(
	ctx context.Context, p tool.Principal, sub subscription, goesOn bool,
) (out *body[func(huma.Context)], err error) {
	place, refused := s.streams.begin(p.Tenant)
	if refused != nil {
		return nil, refused
	}
	sub.place = place
	ctx, cancel := context.WithTimeout(ctx, s.cfg.RequestTimeout) // Of the start; the stream lasts longer.
	defer cancel()
	first, err := sub.read(ctx, sub.after)
	if err != nil {
		place()
		return nil, err
	}
	if goesOn && first.end != nil && len(first.frames) == 0 {
		place()
		return answer(func(ctx huma.Context) { ctx.SetStatus(http.StatusNoContent) }), nil
	}
	//nolint:contextcheck // huma's context holds the request's.
	return answer(func(ctx huma.Context) { s.follow(ctx, p, sub, first) }), nil
}

func (s *server) readRun(ctx context.Context, tenant tool.TenantID, runID, after string, shown mask) (passage, error) {
	seq, err := strconv.ParseInt(after, 10, 64)
	if err != nil {
		return passage{}, badPlace()
	}
	page, err := s.cfg.Store.ReadStream(ctx, tenant, runID, seq, streamPage)
	if err != nil {
		return passage{}, err
	}
	b := passage{frames: make([]frame, len(page.Events))}
	for i, e := range page.Events {
		if b.frames[i], err = frameOf(strconv.FormatInt(e.Seq, 10), shown.event(e)); err != nil {
			return passage{}, err
		}
	}
	if page.Over {
		b.end = &v1.StreamEnd{Status: page.Status}
	}
	return b, nil
}

func (s *server) listTenantEvents(
	ctx context.Context, p tool.Principal, in *tenantEventsInput,
) (*body[func(huma.Context)], error) {
	after, err := s.place(ctx, p.Tenant, in.cursor(in.After))
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	if acceptsStream(in.Accept) {
		sub := subscription{
			shown: shown,
			topic: store.Wake{Tenant: p.Tenant}, after: placeText(after), names: in.Names,
			read: func(ctx context.Context, after string) (passage, error) {
				return s.readTenant(ctx, p.Tenant, after, shown)
			},
		}
		return s.openStream(ctx, p, sub, false)
	}
	events, err := s.cfg.Store.TenantEvents(ctx, p.Tenant, after, in.Limit)
	if err != nil {
		return nil, err
	}
	page := v1.EventPage{Items: make([]tool.Event, len(events))}
	for i, e := range events {
		page.Items[i], page.Next = shown.event(e.Event), placeText(e.Cursor)
	}
	return answerPage(page), nil
}

func (s *server) readTenant(ctx context.Context, tenant tool.TenantID, after string, shown mask) (passage, error) {
	cursor, err := parsePlace(after)
	if err != nil {
		return passage{}, err
	}
	events, err := s.cfg.Store.TenantEvents(ctx, tenant, cursor, streamPage)
	if err != nil {
		return passage{}, err
	}
	b := passage{frames: make([]frame, len(events))}
	for i, e := range events {
		if b.frames[i], err = frameOf(placeText(e.Cursor), shown.event(e.Event)); err != nil {
			return passage{}, err
		}
	}
	return b, nil
}

// place returns the position in a tenant's stream that a caller names.
func (s *server) place(ctx context.Context, tenant tool.TenantID, text string) (store.EventCursor, error) {
	switch text {
	case "":
		return 0, nil
	case "now":
		return s.cfg.Store.EventHorizon(ctx, tenant)
	default:
		return parsePlace(text)
	}
}

// placeText formats a position as its number.
func placeText(c store.EventCursor) string { return strconv.FormatInt(int64(c), 10) }

func parsePlace(text string) (store.EventCursor, error) {
	place, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, badPlace()
	}
	return store.EventCursor(place), nil
}

func badPlace() error {
	return &tool.Error{
		Kind: tool.Invalid, Op: "api", Path: "after",
		Msg: "the cursor is not a number (those of earlier versions held two): " +
			"use the id of a received event, or \"now\", or none for the beginning",
	}
}

// answerPage responds with a page, at an endpoint that can also stream.
func answerPage(page any) *body[func(huma.Context)] {
	return answer(func(ctx huma.Context) {
		ctx.AppendHeader("Vary", "Accept")
		ctx.SetHeader("Content-Type", "application/json")
		ctx.SetStatus(http.StatusOK)
		enc := json.NewEncoder(ctx.BodyWriter())
		enc.SetEscapeHTML(false)
		_ = enc.Encode(page) // An error cannot be reported any more.
	})
}
