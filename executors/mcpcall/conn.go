package mcpcall

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

const transportSSE = remote.SSE

// target is the server and the caller of a connection.
type target struct {
	server     Server
	key        SessionKey
	access     egress.Access
	header     http.Header
	effectID   string
	repeatable bool
	limit      int64 // Of an answer.
	initialize bool  // Whether to initialize a command without server/discover.
}

// shared reports whether the session is stored for later calls of the run.
func (t *target) shared() bool { return t.key.RunID != "" }

// conn is one connection. It sends one request at a time.
type conn struct {
	target  *target
	peer    *peer
	wire    *wire // Nil for a command.
	session *mcp.ClientSession
	resumed bool
	running *running // Of a command.
}

// dial connects, and resumes session s unless it is nil.
func dial(ctx context.Context, gate *egress.Gate, t *target, s *Session) (*conn, error) {
	u, err := url.Parse(t.server.URL)
	if err != nil {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "mcpcall.Execute", Msg: "the server's URL is malformed", Err: err}
	}
	w := &wire{
		gate: gate, access: t.access, url: u, header: t.header, effectID: t.effectID, repeatable: t.repeatable,
		limit: t.limit, exchanges: make(map[string]*exchange),
	}
	client := egress.Over(w)
	var transport mcp.Transport = &mcp.StreamableClientTransport{
		Endpoint: t.server.URL, HTTPClient: client, MaxRetries: maxStreamRetries, DisableStandaloneSSE: true,
		MaxEventSize: maxListBytes + int(t.limit),
	}
	if t.server.Kind() == transportSSE {
		transport = &mcp.SSEClientTransport{
			Endpoint: t.server.URL, HTTPClient: client, MaxEventSize: maxListBytes + int(t.limit),
		}
		s = nil // The stream is the session.
	}
	return open(ctx, t, transport, w, s)
}

// open starts the protocol on a transport.
func open(ctx context.Context, t *target, transport mcp.Transport, w *wire, s *Session) (*conn, error) {
	var known map[string]json.RawMessage
	var opts *mcp.ClientSessionOptions
	switch {
	case s == nil && (t.server.Kind() == transportSSE || t.initialize):
		opts = &mcp.ClientSessionOptions{ProtocolVersion: lastStateful}
	case s == nil:
	case s.Protocol >= firstStateless:
		known = map[string]json.RawMessage{methodDiscover: s.Handshake}
	default:
		known = map[string]json.RawMessage{methodInitialize: s.Handshake}
		opts = &mcp.ClientSessionOptions{ProtocolVersion: s.Protocol}
		w.resume(s)
	}
	c := &conn{target: t, wire: w, peer: newPeer(ctx, transport, known), resumed: s != nil}
	if w == nil {
		c.peer.grace = discoverGrace
	}
	sdk := mcp.NewClient(&mcp.Implementation{Name: clientName, Version: clientVersion}, &mcp.ClientOptions{
		Logger: slog.New(slog.DiscardHandler), Capabilities: capabilities(),
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	session, err := sdk.Connect(ctx, c.peer, opts)
	if err != nil {
		failed := c.unconnected(ctx)
		_ = c.peer.Close()
		return nil, failed
	}
	c.session = session
	if w != nil {
		w.negotiated(c.protocol())
	}
	return c, nil
}

// capabilities are those of this client: it shows apps, where the tenant of a tool lets it.
func capabilities() *mcp.ClientCapabilities {
	c := &mcp.ClientCapabilities{}
	c.AddExtension(remote.AppExtension, map[string]any{"mimeTypes": []string{remote.AppMIMEType}})
	return c
}

// protocol returns the negotiated version.
func (c *conn) protocol() string { return c.session.InitializeResult().ProtocolVersion }

func (c *conn) stateless() bool { return c.protocol() >= firstStateless }

// agreed returns the session for other connections to resume. The server's
// description of itself is redacted, including the session's id.
func (c *conn) agreed(ctx context.Context) (*Session, error) {
	id := c.wire.sessionID()
	secret.Note(ctx, id)
	method := methodInitialize
	if c.stateless() {
		method = methodDiscover
	}
	h, err := readHandshake(method, secret.RedactorFrom(ctx).JSON(c.peer.of(method).answer.result))
	if err != nil {
		return nil, &tool.Error{Kind: tool.Unavailable, Op: "mcpcall.Execute", Msg: err.Error()}
	}
	shape, err := h.shape()
	if err != nil {
		return nil, err
	}
	return &Session{ID: id, Protocol: c.protocol(), Handshake: shape, Server: c.target.server}, nil
}

// close closes the connection and, if end is set, ends the session. ctx bounds the
// messages to the server.
func (c *conn) close(ctx context.Context, end bool) {
	if c.wire != nil && !c.stateless() {
		c.peer.cancelCall(ctx)
	}
	if c.wire != nil && end {
		c.wire.end(ctx)
	}
	c.hangUp()
}

// hangUp closes the connection without notifying the server.
func (c *conn) hangUp() {
	c.peer.cancel() // Stop whatever the SDK still waits for.
	_ = c.session.Close()
	_ = c.peer.Close()
}

func (c *conn) exchange(method string) exchange {
	if c.wire == nil {
		return exchange{}
	}
	return c.wire.of(method)
}

// unconnected returns why the connection failed. No part of the call was sent.
func (c *conn) unconnected(ctx context.Context) error {
	const op = "mcpcall.Execute"
	if ended := endedBy(ctx); ended != nil {
		return ended
	}
	for _, method := range []string{methodInitialize, http.MethodGet, methodDiscover, methodInitialized} {
		at := c.exchange(method)
		switch {
		case at.failed != nil:
			e := *at.failed
			e.Op, e.Sent, e.Answered = op, false, false
			return &e
		case at.overflow > 0:
			return &tool.Error{Kind: tool.Unavailable, Op: op, Msg: "the server's answer to the handshake is too long"}
		case at.status >= http.StatusMultipleChoices &&
			(method != methodDiscover || c.exchange(methodInitialize).status == 0):
			return at.refused(false)
		}
	}
	seen := c.peer.of(methodInitialize)
	h, err := readHandshake(methodInitialize, seen.answer.result)
	switch {
	case seen.fault != nil:
		return seen.fault
	case seen.answered && seen.answer.err == nil && err == nil && !speaks(h.versions[0]):
		return &tool.Error{
			Kind: tool.Unavailable, Op: op,
			Msg: "the server speaks the protocol version " + redact(secret.RedactorFrom(ctx), h.versions[0], maxNameBytes) +
				", which this client does not support",
		}
	case seen.answered:
		return &tool.Error{
			Kind: tool.Unavailable, Op: op, Msg: "the server's answer to the handshake is not one of the protocol",
		}
	default:
		return &tool.Error{
			Kind: tool.Unavailable, Op: op, Msg: "the server does not speak the protocol, is it an MCP server?",
		}
	}
}

// callTool sends the call.
func (c *conn) callTool(ctx context.Context, cfg *Config, arguments json.RawMessage) (*tool.Result, error) {
	c.peer.forget(methodCall)
	defer c.peer.during(ctx)()
	params := &mcp.CallToolParams{Name: cfg.ToolName, Meta: mcp.Meta{"progressToken": progressToken}}
	if len(arguments) > 0 {
		params.Arguments = arguments
	}
	if c.target.effectID != "" {
		params.Meta[effectKey] = c.target.effectID
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel() // Of what a server still streams after its answer.
	_, _ = c.session.CallTool(within, params)
	return c.outcome(ctx)
}
