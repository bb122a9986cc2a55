package api

import (
	"context"
	"strconv"
	"strings"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// source is a topic as a connection follows it.
type source struct {
	topic string
	needs string
	wake  store.Wake
	after string
	lists bool      // Changes are gathered.
	sent  time.Time // When it last handed something on.
	fresh bool      // It has not sent its first event.
	stale bool      // The first event says that events were left out.
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
			src.sent = time.Now()
		}
		if len(page.frames) < streamPage {
			ok = src.sleep(ctx, news)
		}
	}
}

// sleep waits for news. Those of lists are gathered where something was sent a moment ago: the first is sent at once.
func (src *source) sleep(ctx context.Context, news <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-news:
	}
	wait := gather - time.Since(src.sent)
	if !src.lists || wait <= 0 {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
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
