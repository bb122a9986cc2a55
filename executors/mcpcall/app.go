package mcpcall

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// App is the page of a tool's results, as its server sends it.
type App = remote.App

// ForApp is who a tool serves that apps may ask for: see [remote.UI.Serves].
const ForApp = remote.ForApp

// ReadApp requests the app of a tool with the given configuration from its server, in a session of its own, which
// it ends. It fails with a [*tool.Error]: with NotFound for a tool without one, and as calls do for a server that is
// detached or disabled, and a tool that is stopped.
func (c *Client) ReadApp(ctx context.Context, a Access, config json.RawMessage) (*App, error) {
	var v tool.Version
	v.Snapshot.Config = config
	cfg, err := c.configs.of(&v)
	if err != nil {
		return nil, err
	}
	if cfg.UI == nil || cfg.UI.ResourceURI == "" {
		return nil, &tool.Error{Kind: tool.NotFound, Op: "mcpcall.ReadApp", Msg: "the tool has no app"}
	}
	ctx, cancel := bounded30(ctx)
	defer cancel()
	ctx = secret.WithRedactor(ctx, &secret.Redactor{}) // No middleware redacts the server's text here.
	server, err := c.server(ctx, a.Tenant, cfg)
	if err != nil {
		return nil, err
	}
	t := &target{
		server: server, key: SessionKey{Tenant: a.Tenant, Server: server.Key()}, limit: maxAppMessage, repeatable: true,
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
	return conn.readApp(ctx, cfg.UI)
}

func unshown(how string) error {
	return &tool.Error{Kind: tool.Unavailable, Op: "mcpcall.ReadApp", Msg: "the app that the server gives " + how}
}

// readApp requests the resource of an app.
func (c *conn) readApp(ctx context.Context, ui *remote.UI) (*App, error) {
	c.peer.forget(methodRead)
	_, _ = c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: ui.ResourceURI}) // The peer keeps the answer.
	const refused = "the server does not give its app"
	if c.exchange(methodRead).refusal != nil { // With a status of failure.
		return nil, &tool.Error{Kind: tool.Unavailable, Op: "mcpcall.ReadApp", Msg: refused}
	}
	raw, err := c.answer(ctx, methodRead, unshown, refused)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(raw) {
		return nil, unshown("is not valid UTF-8")
	}
	var r struct {
		Contents []struct {
			URI      string          `json:"uri"`
			MIMEType string          `json:"mimeType"` //nolint:tagliatelle // The protocol's name.
			Text     *string         `json:"text"`
			Blob     string          `json:"blob"`
			Meta     json.RawMessage `json:"_meta"` //nolint:tagliatelle // The protocol's name.
		} `json:"contents"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return nil, unshown("is malformed")
	}
	for _, content := range r.Contents {
		if content.URI != ui.ResourceURI {
			continue
		}
		if !isApp(content.MIMEType) {
			return nil, unshown("is not of the type " + remote.AppMIMEType)
		}
		out := &App{
			ResourceURI: ui.ResourceURI, ConnectDomains: ui.ConnectDomains, ResourceDomains: ui.ResourceDomains,
		}
		if content.Text != nil {
			out.HTML = *content.Text
		} else {
			html, err := base64.StdEncoding.DecodeString(content.Blob)
			if err != nil || !utf8.Valid(html) {
				return nil, unshown("is not text")
			}
			out.HTML = string(html)
		}
		if len(out.HTML) > maxAppBytes {
			return nil, unshown(fmt.Sprintf("is longer than %d bytes", maxAppBytes))
		}
		remote.ReadAppMeta(content.Meta, out)
		return out, nil
	}
	return nil, unshown("is another resource than the one that was asked for")
}

// isApp reports whether a media type is that of apps, whatever its spelling.
func isApp(media string) bool {
	t, params, err := mime.ParseMediaType(media)
	return err == nil && t == "text/html" && params["profile"] == "mcp-app"
}
