package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

type listSpaceMessagesInput struct {
	SpacePath
	Paging
	Kind string `query:"kind" enum:",text,tool" doc:"Only what was said, or only visible calls"`
}

type postSpaceMessageInput struct {
	SpacePath
	Body v1.NewSpaceMessage
}

type spaceMessageInput struct {
	SpacePath
	Message string `path:"message" maxLength:"64"`
}

type spaceEventsInput struct {
	SpacePath
	After       int64  `query:"after" minimum:"0" doc:"changed_seq of the last message that was received"`
	Limit       int    `query:"limit" minimum:"1" maximum:"200" default:"200" doc:"Of a page; a stream has no limit"`
	Accept      string `header:"Accept" hidden:"true"`
	LastEventID string `header:"Last-Event-ID" maxLength:"64" doc:"Of a stream: id of the last received event, as browsers send it; takes precedence over after"` //nolint:tagliatelle // As the standard spells it.
}

func (s *server) registerSpaceMessages() {
	handle(s, route{
		id: "listSpaceMessages", method: http.MethodGet, path: "/v1/spaces/{space}/messages", tag: "spaces",
		permission: SpacesRead, summary: "List the messages of a space, newest first", detail: seesSpace,
	}, s.listSpaceMessages)
	handle(s, route{
		id: "postSpaceMessage", method: http.MethodPost, path: "/v1/spaces/{space}/messages", tag: "spaces",
		permission: SpacesPost, status: http.StatusCreated, summary: "Say something in a space",
		detail: "For members of the space. It wakes the agents of the space, which then act with the permissions of this " +
			"key: the message goes to the run of the agent that goes on, or begins one.",
	}, s.postSpaceMessage)
	handle(s, route{
		id: "getSpaceMessage", method: http.MethodGet, path: "/v1/spaces/{space}/messages/{message}", tag: "spaces",
		permission: SpacesRead, summary: "Get a message of a space", detail: seesSpace,
	}, s.getSpaceMessage)
	handle(s, route{
		id: "listSpaceEvents", method: http.MethodGet, path: "/v1/spaces/{space}/events", tag: "spaces",
		permission: SpacesRead, summary: "List or follow what is new in a space",
		detail: "Messages that are new, or have changed, in the order of their changes: each as it is now, so that a " +
			"message which changes often may be skipped in between.\n\nWith `Accept: text/event-stream` the answer is a " +
			"stream of server-sent events named `space.message`: `id` is the cursor to resume from (as " +
			"`Last-Event-ID` or `after`), `data` the message. This stream has no end. The output of a call while it runs " +
			"is in the stream of its run. " +
			seesSpace,
	}, s.listSpaceEvents)
	s.describeSpaceStream()
}

func (m mask) spaceMessage(of space.Message) v1.SpaceMessage {
	shown := v1.FromSpaceMessage(of)
	shown.Text = m.text(shown.Text)
	if c := shown.Call; c != nil {
		c.Input, c.Output, c.Error = m.json(c.Input), m.json(c.Output), m.text(c.Error)
	}
	return shown
}

func (s *server) listSpaceMessages(
	ctx context.Context, p tool.Principal, in *listSpaceMessagesInput,
) (*listed[v1.SpaceMessage], error) {
	found, err := s.seen(ctx, p, in.Space)
	if err != nil {
		return nil, err
	}
	place, err := openCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	q := space.MessageQuery{Tenant: p.Tenant, SpaceID: found.ID, Kind: space.MessageKind(in.Kind), Limit: in.fetch()}
	if place != "" {
		if q.Before, err = strconv.ParseInt(place, 10, 64); err != nil || q.Before < 1 {
			return nil, badCursor()
		}
	}
	messages, err := s.cfg.Store.ListSpaceMessages(ctx, q)
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, messages, shown.spaceMessage, func(m space.Message) string {
		return strconv.FormatInt(m.Seq, 10)
	})), nil
}

func (s *server) postSpaceMessage(
	ctx context.Context, p tool.Principal, in *postSpaceMessageInput,
) (*body[v1.SpacePosted], error) {
	found, err := s.cfg.Store.FindSpace(ctx, p.Tenant, in.Space)
	if err != nil {
		return nil, err
	}
	if is, err := s.cfg.Store.IsSpaceMember(ctx, p.Tenant, found.ID, self(p)); err != nil {
		return nil, err
	} else if !is && !p.May(SpacesWrite) {
		return nil, &tool.Error{Kind: tool.NotFound, Op: "api.space", Msg: "space not found"}
	}
	post := space.Post{
		ID: requestOf(ctx).ID, SpaceID: found.ID, From: self(p), Principal: p, Text: in.Body.Text,
	}
	if err := post.Check(); err != nil {
		return nil, err
	}
	posted, err := s.cfg.Store.PostMessage(ctx, post)
	if err != nil {
		return nil, err
	}
	if posted.Woken > 0 {
		s.wakeAgents(ctx)
	}
	shown := s.changedMask(ctx, p.Tenant)
	return answer(v1.SpacePosted{SpaceMessage: shown.spaceMessage(posted.Message), Woken: posted.Woken}), nil
}

// wakeAgents wakes agents at once; what fails is tried again by servers.
func (s *server) wakeAgents(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 4*runs.StartTimeout)
	go func() {
		defer cancel()
		if _, err := s.runs.WakeAgents(ctx, runs.DispatchLimit); err != nil {
			s.log.DebugContext(ctx, "waking agents at once failed; it is tried again", slog.Any("error", err))
		}
	}()
}

func (s *server) getSpaceMessage(
	ctx context.Context, p tool.Principal, in *spaceMessageInput,
) (*body[v1.SpaceMessage], error) {
	found, err := s.seen(ctx, p, in.Space)
	if err != nil {
		return nil, err
	}
	m, err := s.cfg.Store.FindSpaceMessage(ctx, p.Tenant, found.ID, in.Message)
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	return answer(shown.spaceMessage(m)), nil
}

func (s *server) listSpaceEvents(
	ctx context.Context, p tool.Principal, in *spaceEventsInput,
) (*body[func(huma.Context)], error) {
	found, err := s.seen(ctx, p, in.Space)
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	if acceptsStream(in.Accept) {
		return s.followSpace(ctx, p, found.ID, in, shown)
	}
	messages, err := s.cfg.Store.ListSpaceChanges(ctx, p.Tenant, found.ID, in.After, in.Limit)
	if err != nil {
		return nil, err
	}
	out := v1.Page[v1.SpaceMessage]{Items: make([]v1.SpaceMessage, len(messages))}
	for i, m := range messages {
		out.Items[i] = shown.spaceMessage(m)
	}
	return answerPage(out), nil
}

func (s *server) followSpace(
	ctx context.Context, p tool.Principal, id string, in *spaceEventsInput, shown mask,
) (*body[func(huma.Context)], error) {
	after := strconv.FormatInt(in.After, 10)
	if in.LastEventID != "" {
		after = in.LastEventID
	}
	if _, err := strconv.ParseUint(after, 10, 63); err != nil {
		return nil, badPlace()
	}
	sub := subscription{
		shown: shown,
		topic: store.Wake{Tenant: p.Tenant, RunID: spaceTopic + id}, after: after, names: v1.CanonicalNames,
		needs: SpacesRead,
		member: func(ctx context.Context, now tool.Principal) error {
			_, err := s.seen(ctx, now, id)
			return err
		},
		read: func(ctx context.Context, after string) (passage, error) {
			return s.readSpace(ctx, p.Tenant, id, after, shown)
		},
	}
	return s.openStream(ctx, p, sub, false)
}

func (s *server) readSpace(
	ctx context.Context, tenant tool.TenantID, id, after string, shown mask,
) (passage, error) {
	seq, err := strconv.ParseInt(after, 10, 64)
	if err != nil {
		return passage{}, badPlace()
	}
	messages, err := s.cfg.Store.ListSpaceChanges(ctx, tenant, id, seq, streamPage)
	if err != nil {
		return passage{}, err
	}
	b := passage{frames: make([]frame, len(messages))}
	for i, m := range messages {
		data, err := json.Marshal(shown.spaceMessage(m))
		if err != nil {
			return passage{}, fmt.Errorf("writing message %d of space %s: %w", m.Seq, id, err)
		}
		b.frames[i] = frame{id: strconv.FormatInt(m.ChangedSeq, 10), eventType: v1.EventSpaceMessage, data: data}
	}
	return b, nil
}
