package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

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
