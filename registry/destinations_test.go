package registry_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

// The credentials of all destinations are looked for when a tool is saved, each with the host
// that it is for; a fault of any destination is refused; and a tool is not published below the
// class of the destination that needs most.
func TestDestinationsAreJudgedOneByOne(t *testing.T) {
	t.Parallel()

	store := registrytest.NewStore()
	r := registry.New(store, registry.Options{
		Types: registrytest.Types(httpcall.Type(nil, nil)),
		Advice: registry.Advice{HasCredential: func(_ context.Context, _ tool.TenantID, ref string) (bool, error) {
			return ref == "kept", nil
		}},
	})
	p := tool.Principal{Tenant: store.AddTenant("acme"), Subject: "user:ada", Permissions: []string{registry.ToolsWrite}}
	const desk = `"desk": {"url": "https://desk.example.com:8443/in", "auth": {"type": "bearer", "credentials_ref": "desk-key"}},
		"kept": {"url": "https://kept.example.com", "auth": {"type": "bearer", "credentials_ref": "kept"}}`
	publishing := func(class tool.Egress, blog string) definition.Definition {
		s := spec("publishContent", func(s *definition.ToolSpec) {
			s.Implementation, s.EgressClass = tool.HTTP, class
			s.Config = json.RawMessage(`{"destinations": {"from": "/to", "of": {"blog": ` + blog + `, ` + desk + `}}}`)
			s.InputSchema = json.RawMessage(`{"type": "object", "properties": {"to": {"type": "string", "enum": ["blog", "desk"]}}}`)
		})
		return definition.Definition{Tool: &s}
	}
	const blog = `{"method": "POST", "url": "https://blog.example.com/{+path}",
		"auth": {"type": "basic", "credentials_ref": "blog-login"}}`
	change, err := r.Check(t.Context(), p, publishing(tool.EgressWrite, blog))
	require.NoError(t, err)
	warnings := strings.Join(change.Warnings, "\n")
	require.Contains(t, warnings, "credential set blog-login --host blog.example.com,")
	require.Contains(t, warnings, "credential set desk-key --host desk.example.com:8443,")
	require.NotContains(t, warnings, `credential "kept"`)
	require.Contains(t, warnings, `the destination "kept" is not in the enum of /to`)
	require.Contains(t, warnings, `declares no property "path"`)

	_, err = r.Check(t.Context(), p, publishing(tool.EgressWrite, `{"url": "https://{host}/"}`))
	registrytest.RequireRefused(
		t, err, tool.Invalid, "/implementation_config/destinations/of/blog/url", "must be literals",
	)
	low := publishing(tool.EgressReadOnly, blog)
	low.Tool.Publish = true
	_, err = r.Apply(t.Context(), p, low)
	registrytest.RequireRefused(t, err, tool.Invalid, "/egress_class", "POST")
}
