package api

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// connections are the open streams of topics of a server. It is safe for concurrent use.
type connections struct {
	mu sync.Mutex
	of map[string]*connection
}

func (cs *connections) add(c *connection) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.of[c.name] = c
}

func (cs *connections) drop(c *connection) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.of, c.name)
}

// find returns a connection of a principal, or nil.
func (cs *connections) find(name string, p tool.Principal) *connection {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.of[name]
	if c == nil || c.owner.Tenant != p.Tenant || c.owner.Subject != p.Subject {
		return nil
	}
	return c
}

// check has connections of a tenant look at their authority at once.
func (cs *connections) check(tenant tool.TenantID) {
	cs.each(func(c *connection) bool { return c.owner.Tenant == tenant })
}

// left has the connections of a browser look at their authority at once: it signed out.
func (cs *connections) left(browser []byte) {
	cs.each(func(c *connection) bool { return browser != nil && bytes.Equal(c.browser, browser) })
}

func (cs *connections) each(which func(*connection) bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.of {
		if !which(c) {
			continue
		}
		select {
		case c.check <- struct{}{}:
		default: // It is to look already.
		}
	}
}

// connection is an open stream of topics. It is safe for concurrent use.
type connection struct {
	server  *server
	name    string
	owner   tool.Principal
	browser []byte // The digest of its secret; nil for a key.
	shown   mask
	ctx     context.Context //nolint:containedctx // Of the stream, which sources live in.
	parcels chan parcel
	check   chan struct{}

	setting sync.Mutex // Held while topics are changed.

	mu sync.Mutex
	of map[string]*source
	at map[string]string // Cursors behind what was written.
}

// set follows topics in place of those before. Topics that stay go on where they are.
func (c *connection) set(
	ctx context.Context, p tool.Principal, cursors map[string]string, order []string,
) (topics []v1.LiveTopic, refused []v1.LiveRefusal) {
	c.setting.Lock()
	defer c.setting.Unlock()
	for _, src := range c.sources() {
		if _, stays := cursors[src.topic]; !stays {
			c.end(src)
		}
	}
	topics, refused = []v1.LiveTopic{}, []v1.LiveRefusal{}
	for _, topic := range order {
		if at, has := c.cursor(topic); has {
			topics = append(topics, v1.LiveTopic{Topic: topic, Cursor: at})
			continue
		}
		leave, full := c.server.topics.begin(c.owner.Tenant)
		if full != nil {
			refused = append(refused, refusalOf(topic, full))
			continue
		}
		src, err := c.server.topicSource(ctx, p, topic, cursors[topic], c.shown)
		if err != nil {
			leave()
			refused = append(refused, refusalOf(topic, err))
			continue
		}
		src.leave = leave
		topics = append(topics, src.at())
		c.begin(src) //nolint:contextcheck // With the context of the connection, which outlives the request.
	}
	return topics, refused
}

func (c *connection) begin(src *source) {
	ctx, stop := context.WithCancel(c.ctx)
	src.stop = stop
	c.mu.Lock()
	c.of[src.topic], c.at[src.topic] = src, src.after
	c.mu.Unlock()
	go c.pull(ctx, src)
}

// end ends a source.
func (c *connection) end(src *source) {
	src.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[src.topic] == src {
		delete(c.of, src.topic)
		delete(c.at, src.topic)
	}
}

func (c *connection) sources() []*source {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]*source, 0, len(c.of))
	for _, src := range c.of {
		out = append(out, src)
	}
	slices.SortFunc(out, func(a, b *source) int { return strings.Compare(a.topic, b.topic) })
	return out
}

func (c *connection) cursor(topic string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.at[topic]
	return at, ok
}

// hand gives a parcel to the writer, and reports whether it took it.
func (c *connection) hand(ctx context.Context, b parcel) bool {
	select {
	case c.parcels <- b:
		return true
	case <-ctx.Done():
		return false
	}
}

// advance records what is written with a parcel: the id of each event holds the cursors of all topics behind it. It
// reports false for the parcel of a topic that has ended meanwhile, of which nothing is written.
func (c *connection) advance(b parcel) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[b.of.topic] != b.of {
		return false
	}
	for i := range b.frames {
		switch last := i == len(b.frames)-1; {
		case b.frames[i].id != "":
			c.at[b.of.topic] = b.frames[i].id
		case last:
			c.at[b.of.topic] = b.cursor
		}
		b.frames[i].id = c.cursors()
	}
	if c.at[b.of.topic] = b.cursor; b.over {
		delete(c.of, b.of.topic)
		delete(c.at, b.of.topic)
	}
	return true
}

// cursors is called with the lock held.
func (c *connection) cursors() string {
	all := make([]string, 0, len(c.at))
	for topic, at := range c.at {
		all = append(all, topic+"@"+at)
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

// heartbeat renews what says that the runs are followed.
func (c *connection) heartbeat() {
	for _, src := range c.sources() {
		c.server.followed(c.ctx, src.wake)
	}
}
