package mcpcall

import (
	"context"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/internal/secret"
)

// Discover requests a server's description and tools, in a session of its own,
// which it ends. It fails with a [*tool.Error].
func (c *Client) Discover(ctx context.Context, a Access, s Server) (*Discovery, error) {
	if err := CheckServer(&s, ""); err != nil {
		return nil, err
	}
	ctx, cancel := bounded30(ctx)
	defer cancel()
	known := &secret.Redactor{} // No middleware redacts the server's text here.
	ctx = secret.WithRedactor(ctx, known)
	t := &target{
		server: s, key: SessionKey{Tenant: a.Tenant, Server: s.Key()}, limit: defaultAnswerBytes, repeatable: true,
		access: egress.Access{Tenant: a.Tenant, Class: a.Class, Rules: a.Rules},
	}
	if err := c.authorize(ctx, t); err != nil {
		return nil, err
	}
	conn, err := c.connect(ctx, t)
	if err != nil {
		return nil, err
	}
	defer c.release(ctx, conn, true)
	listed, err := conn.list(ctx)
	if err != nil {
		return nil, err
	}
	out := &Discovery{
		Protocol: conn.protocol(), Stateless: conn.stateless(), Tools: []RemoteTool{}, Skipped: listed.skipped,
	}
	for _, found := range listed.tools {
		if out.Stateless && namesHeaders(found.InputSchema) && !conn.usable(ctx, listed.raw[found.Name]) {
			out.Skipped = append(out.Skipped, remote.Skipped{Name: found.Name, Reason: badHeaders})
			continue
		}
		out.Tools = append(out.Tools, found)
	}
	method := methodInitialize
	if out.Stateless {
		method = methodDiscover
	}
	if h, err := readHandshake(method, known.JSON(conn.peer.of(method).answer.result)); err == nil {
		out.Name, out.Version, out.Instructions = h.name, h.version, h.instructions
	}
	return out, nil
}
