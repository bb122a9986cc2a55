package mcpcall

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Type describes mcp tools. The client is nil in a process that only validates
// definitions.
func Type(client *Client) executors.Type {
	t := executors.Type{
		Traits:      tool.Traits{Implementation: tool.MCP, Quick: true},
		Executor:    New(client),
		CheckConfig: func(config, _ json.RawMessage) error { return CheckConfig(config) },
		Untrusted:   func(string, json.RawMessage) bool { return true }, // Others run the server.
	}
	if client != nil {
		t.Target, t.Secret, t.Vouched = client.ApprovalTarget, client.usesCredential, client.trusted
	}
	return t
}

// ApprovalTarget returns what the approval of a call is bound to: the server as it is attached
// now, with its address, headers and credential, which the content of the tool only names.
func (c *Client) ApprovalTarget(ctx context.Context, aim wait.Aim) (wait.Target, error) {
	cfg, err := decodeConfig(aim.Config)
	if err != nil {
		return wait.Target{}, err
	}
	server, err := c.server(ctx, aim.Tenant, cfg)
	if err != nil {
		return wait.Target{}, err
	}
	out := wait.Target{Content: aim.Content, Host: server.Name(), Credential: server.CredentialsRef()}
	if cfg.Attached != "" {
		raw := fmt.Appendf(nil, `{"content":%q,"server":%q}`, aim.Content, server.Key())
		if out.Content, err = tool.Digest(raw); err != nil {
			return wait.Target{}, fmt.Errorf("digesting the server of a call: %w", err)
		}
	}
	return out, nil
}

// usesCredential reports whether the server, as it is attached now, is sent a credential.
func (c *Client) usesCredential(ctx context.Context, aim wait.Aim) (bool, error) {
	target, err := c.ApprovalTarget(ctx, aim)
	return target.Credential != "", err
}

// trusted reports whether the server of a tool is attached, and an administrator trusts its results. One that the tool
// names by its address is not.
func (c *Client) trusted(ctx context.Context, aim wait.Aim) (bool, error) {
	cfg, err := decodeConfig(aim.Config)
	if err != nil || cfg.Attached == "" || c.opts.Servers == nil {
		return false, err
	}
	trusted, err := c.opts.Servers.Trusted(ctx, aim.Tenant, cfg.Attached)
	if err != nil {
		return false, fmt.Errorf("reading whether server %q is trusted: %w", cfg.Attached, err)
	}
	return trusted, nil
}
