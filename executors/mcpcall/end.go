package mcpcall

import (
	"context"
	"net/http"
	"net/url"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/internal/remote/session"
	"github.com/toolcrib/toolcrib/tool"
)

// End notifies the server that an unused session has ended. It is best effort:
// servers expire sessions by themselves.
func (c *Client) End(ctx context.Context, e session.Expired) {
	s := e.Session.Server
	if e.Session.ID.IsZero() || s.Kind() != remote.StreamableHTTP {
		return
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	t := &target{
		server: s, key: SessionKey{Tenant: e.Tenant, Server: s.Key()},
		access: egress.Access{Tenant: e.Tenant, Class: tool.EgressWrite},
	}
	if c.authorize(ctx, t) != nil {
		return
	}
	w := &wire{gate: c.opts.Gate, access: t.access, url: u, header: t.header, exchanges: make(map[string]*exchange)}
	w.resume(&e.Session)
	w.end(ctx)
}

var _ http.RoundTripper = (*wire)(nil)
