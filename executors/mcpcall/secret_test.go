package mcpcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

const password = "synthetic-password-of-the-desk-0123456789"

func basicSecrets() secret.Resolver {
	return secret.ResolverFunc(func(context.Context, tool.TenantID, string) (secret.Value, error) {
		return secret.NewValue("desk:"+password, "127.0.0.1"), nil
	})
}

// A server quotes the password that it is called with: alone, and where what it
// says is cut, so that a part would be left of it that is in no list of secrets.
func TestNoPartOfACredentialComesBack(t *testing.T) {
	t.Parallel()

	text := func(before int) string { return strings.Repeat("x", before) + password }
	quoted := func(format string, before int) string { return fmt.Sprintf(format, text(before)) }
	for name, s := range map[string]*script{
		"in an answer":          {call: result(quoted(`{"content": [{"type": "text", "text": %q}]}`, 0))},
		"in structured content": {call: result(quoted(`{"content": [], "structuredContent": {"a": %q}}`, 0))},
		"in a link that is cut": {
			call: result(quoted(`{"content": [{"type": "resource_link", "uri": %q, "name": "n"}]}`, 2048-20)),
		},
		"in a name that is cut": {
			call: result(quoted(`{"content": [{"type": "resource_link", "uri": "a:b", "name": %q}]}`, 1024-20)),
		},
		"in an error that is cut": {
			call: asJSON(quoted(`{"jsonrpc": "2.0", "id": $ID, "error": {"code": 4000, "message": %q}}`, 2048-20)),
		},
		"in progress that is cut": {call: asEvents(
			quoted(
				`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call","progress":1,"message":%q}}`,
				1024-20,
			), answer)},
		"in output that is cut": {call: asEvents(
			quoted(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%q}}`, 16*1024-20),
			answer)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			address := serve(t, s)
			config := fmt.Sprintf(
				`{"server_url": %q, "tool_name": "order", "auth": {"type": "basic", "credentials_ref": "desk"}}`, address,
			)
			e := middleware.Redact()(newExecutor(t, address, mcpcall.Options{Secrets: basicSecrets()}))
			var mu sync.Mutex
			var said strings.Builder
			say := func(text string) {
				mu.Lock()
				defer mu.Unlock()
				said.WriteString(text)
			}
			ctx := tool.WithProgress(tool.WithOutput(t.Context(), say), func(p tool.Progress) { say(p.Message) })
			res, err := e.Execute(ctx, callOf(config, "run-1"))
			require.NoError(t, err)
			raw, err := json.Marshal(res)
			require.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			require.NotContains(t, said.String()+string(raw), password[:12])
		})
	}
}

// What a server says of itself and its tools is kept and shown: not with the
// credential that it was asked with.
func TestDiscoveryTellsNoCredential(t *testing.T) {
	t.Parallel()

	tools := fmt.Sprintf(`{"tools": [{"name": "order", "title": %q, "description": %q, "inputSchema": {"type": "object", "description": %q}}]}`,
		password, "asked as "+password, password)
	s := &script{tools: tools}
	address := serve(t, s)
	_, c := newClient(t, address, mcpcall.Options{Secrets: basicSecrets()})
	var server mcpcall.Server
	require.NoError(
		t,
		json.Unmarshal(fmt.Appendf(nil, `{"server_url": %q, "auth": {"type": "basic", "credentials_ref": "desk"}}`, address),
			&server),
	)
	found, err := c.Discover(t.Context(), mcpcall.Access{Tenant: "t1", Class: tool.EgressWrite}, server)
	require.NoError(t, err)
	require.Len(t, found.Tools, 1)
	raw, err := json.Marshal(found)
	require.NoError(t, err)
	require.NotContains(t, string(raw), password)

	config := fmt.Sprintf(`{"server_url": %q, "tool_name": "order", "definition_digest": %q, "auth": {"type": "basic", "credentials_ref": "desk"}}`,
		address, found.Tools[0].Digest)
	_, err = middleware.Redact()(newExecutor(t, address, mcpcall.Options{Secrets: basicSecrets()})).Execute(t.Context(),
		callOf(config, "run-1"))
	require.NoError(t, err, "a call finds the definition that was pinned")
}
