package mcpcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Executor runs mcp tools. It is safe for concurrent use.
type Executor struct {
	client *Client
}

// New returns an executor over a client. The caller closes the client.
func New(c *Client) *Executor { return &Executor{client: c} }

var _ tool.Executor = (*Executor)(nil)

// CheckConfig is the package's [CheckConfig], for registries that call a type's
// executor.
func (e *Executor) CheckConfig(raw json.RawMessage) error { return CheckConfig(raw) }

// Execute implements [tool.Executor].
func (e *Executor) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	if ended := endedBy(ctx); ended != nil {
		return nil, ended
	}
	cfg, err := e.client.configs.of(call.Version)
	if err != nil {
		return nil, err
	}
	ctx, cancel := bounded30(ctx)
	defer cancel()
	t, err := e.client.target(ctx, cfg, call)
	if err != nil {
		return nil, err
	}
	res, err := e.client.attempt(ctx, t, cfg, call)
	if errors.Is(err, errSessionLost) {
		// The server did not take the call, so retry it once.
		res, err = e.client.attempt(ctx, t, cfg, call)
	}
	return res, err
}

// bounded30 adds a deadline to a context without one.
func bounded30(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, tool.DefaultTimeout)
}

// server returns the server of a configuration, as it is attached now.
func (c *Client) server(ctx context.Context, tenant tool.TenantID, cfg *Config) (Server, error) {
	if cfg.Attached == "" {
		return cfg.Server, nil
	}
	if c.opts.Servers == nil {
		return Server{}, &tool.Error{
			Kind: tool.NotFound, Op: "mcpcall.Execute", Msg: fmt.Sprintf("no MCP server %q is attached", cfg.Attached),
		}
	}
	server, err := c.opts.Servers.Server(ctx, tenant, cfg.Attached, cfg.ToolName)
	if err != nil {
		return Server{}, kept404(err)
	}
	return server, nil
}

// target resolves the server of a call.
func (c *Client) target(ctx context.Context, cfg *Config, call *tool.Call) (*target, error) {
	server, err := c.server(ctx, call.Principal.Tenant, cfg)
	if err != nil {
		return nil, err
	}
	t := &target{
		server: server, key: SessionKey{Tenant: call.Principal.Tenant, RunID: call.RunID, Server: server.Key()},
		effectID: call.EffectID, repeatable: call.Version.Snapshot.Execution.Repeatable(),
		limit:  call.EgressRules.Bound(cfg.limit()),
		access: egress.Access{Tenant: call.Principal.Tenant, Class: call.Egress, Rules: call.EgressRules},
	}
	return t, c.authorize(ctx, t)
}

// authorize opens the credentials of the server's headers and auth.
func (c *Client) authorize(ctx context.Context, t *target) error {
	if t.access.Class != tool.EgressReadOnly && t.access.Class != tool.EgressWrite {
		return &tool.Error{
			Kind: tool.Denied, Op: "mcpcall.Execute",
			Msg: "the tool's egress class is none: it may not connect to a server; set its egress_class to read_only or write",
		}
	}
	// Answers have their own limits, and rules about methods apply to the effect
	// of a call, not to the protocol's POST requests.
	t.access.Rules.MaxBytes = 0
	t.header = make(http.Header)
	auth := t.server.Auth
	for name, h := range t.server.Headers {
		if h.CredentialsRef != "" {
			auth = &remote.Auth{Type: remote.AuthHeader, Header: name, CredentialsRef: h.CredentialsRef}
			continue
		}
		t.header.Set(name, h.Literal)
	}
	if auth == nil {
		return nil
	}
	v, err := secret.Open(ctx, c.opts.Secrets, t.key.Tenant, auth.CredentialsRef)
	if err != nil {
		return err
	}
	if _, password, ok := strings.Cut(v.Reveal(), ":"); ok && auth.Type == remote.AuthBasic {
		secret.Note(ctx, secret.NewValue(password))
	}
	scheme := map[string]egress.Scheme{
		remote.AuthBearer: egress.Bearer, remote.AuthBasic: egress.Basic, remote.AuthHeader: egress.Raw,
	}[auth.Type]
	t.access.Credential = &egress.Credential{Value: v, Scheme: scheme, Header: auth.Header}
	return nil
}

// attempt makes the call in the stored session, or in a new one.
func (c *Client) attempt(ctx context.Context, t *target, cfg *Config, call *tool.Call) (*tool.Result, error) {
	conn, err := c.connect(ctx, t)
	if err != nil {
		return nil, err
	}
	res, err := c.ask(ctx, conn, cfg, call)
	lost := errors.Is(err, errSessionLost)
	if lost && conn.resumed {
		c.drop(ctx, t, conn)
	}
	c.release(ctx, conn, !t.shared() && !lost)
	if lost && !conn.resumed {
		e := *tool.AsError(err)
		e.Err = errors.New("the server expired a new session")
		return nil, &e
	}
	return res, err
}

func (c *Client) drop(ctx context.Context, t *target, conn *conn) {
	c.known.forget(t.key)
	err := c.opts.Sessions.DropMCPSession(ctx, t.key, &Session{ID: conn.wire.sessionID(), Protocol: conn.protocol()})
	if err != nil {
		c.opts.Logger.WarnContext(ctx, "dropping an expired session failed")
	}
}

// ask makes the call, if the tool still matches its pinned definition.
func (c *Client) ask(ctx context.Context, conn *conn, cfg *Config, call *tool.Call) (*tool.Result, error) {
	if cfg.DefinitionDigest != "" || conn.stateless() {
		if err := c.verify(ctx, conn, cfg, call); err != nil {
			return nil, err
		}
	}
	res, err := conn.callTool(ctx, cfg, call.Arguments)
	if conn.peer.of(methodCall).stale {
		c.known.forget(conn.target.key)
	}
	if !errors.Is(err, errUnknownTool) {
		return res, err
	}
	// The error has two meanings: check the server's list of tools, without the
	// cache.
	c.known.forget(conn.target.key)
	if listErr := c.verify(ctx, conn, cfg, call); listErr != nil && tool.KindOf(listErr) == tool.Conflict {
		e := *tool.AsError(listErr)
		e.Sent, e.Answered = true, true
		return nil, &e
	}
	return tool.ErrorResult(tool.AsError(err).Msg), nil
}
