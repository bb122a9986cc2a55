package activities

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// searcher is a kit with a tool of ours, and one of the provider "acme".
func searcher(t *testing.T) *kit {
	t.Helper()
	k := testKit(t)
	k.tools[1].pin.Implementation, k.tools[1].pin.ToolID = tool.Provider, "ping-id"
	k.tools[1].traits.RunBy = tool.RunByProvider
	k.tools[1].version = &tool.Version{Snapshot: tool.Snapshot{Definition: tool.Definition{
		Implementation: tool.Provider,
		Config: json.RawMessage(
			`{"provider":"acme","tool":{"type":"web_search_1","name":"web_search","max_uses":3}}`,
		),
	}}}
	return k
}

// A model that calls a tool of its provider as a function is told why that
// cannot be, and nothing is executed; nor is such a tool among those to call.
func TestRefusedCallOfAProviderTool(t *testing.T) {
	t.Parallel()

	k := searcher(t)
	got, err := k.prepare(t.Context(), agent.Call{ID: "c", Name: "ping", Arguments: json.RawMessage(`{}`)})
	require.NoError(t, err)
	require.Equal(t, "ping", got.Slug)
	require.NotNil(t, got.Refused)
	require.Equal(t, tool.Invalid, got.Refused.Kind)
	require.Contains(t, got.Refused.Msg, "run by the provider of the model")

	require.Len(t, k.specs(), 1)
	require.Equal(t, "searchOrders", k.specs()[0].Name)
	got, err = k.prepare(t.Context(), agent.Call{Name: "pong"})
	require.NoError(t, err)
	require.Contains(t, got.Refused.Msg, "available: searchOrders")
	require.NotContains(t, got.Refused.Msg, "ping")
}

// heads is a source of one tool.
type heads struct {
	resolver.Source

	head tool.Tool
	fail error
}

func (h heads) Entries(context.Context, tool.TenantID, tool.Ref) (resolver.Candidates, error) {
	h.head.ID, h.head.Tenant, h.head.Slug, h.head.Implementation = "ping-id", "tenant", "ping", tool.Provider
	return resolver.Candidates{TenantActive: true, Entries: []resolver.Entry{{
		Tool: h.head, Versions: []resolver.VersionInfo{{Number: "1.0.0", Digest: "d", Published: true}},
	}}}, h.fail
}

func (heads) Version(context.Context, tool.TenantID, string, string) (*tool.Version, error) {
	return &tool.Version{
		Number: "1.0.0", Snapshot: tool.Snapshot{Definition: tool.Definition{Implementation: tool.Provider}},
	}, nil
}

// What a provider's tool may do nobody admits, so whether it is passed on is
// decided anew at each turn, on the authority of that moment.
func TestProviderToolsArePassedOnWhileTheyMay(t *testing.T) {
	t.Parallel()

	usable := tool.Tool{Status: tool.Published, Active: true}
	disabled, deprecated, quarantined := usable, usable, usable
	disabled.Status, deprecated.Status = tool.Disabled, tool.Deprecated
	quarantined.Quarantine = "somebody has to look at it"
	for name, tt := range map[string]struct {
		source heads
		policy tool.Policy
		model  string
		passed bool
		kind   tool.Kind
	}{
		"Usable":       {source: heads{head: usable}, passed: true},
		"Deprecated":   {source: heads{head: deprecated}, passed: true},
		"Disabled":     {source: heads{head: disabled}},
		"Inactive":     {source: heads{head: tool.Tool{Status: tool.Published}}},
		"Quarantined":  {source: heads{head: quarantined}},
		"Asks":         {source: heads{head: usable}, policy: tool.Policy{PermissionPolicy: tool.PermissionAlwaysAsk}},
		"Writes":       {source: heads{head: usable}, policy: tool.Policy{EgressClass: tool.EgressWrite}},
		"Permission":   {source: heads{head: usable}, policy: tool.Policy{RequiredPermission: "search"}},
		"OtherModel":   {source: heads{head: usable}, model: "other/m", kind: tool.Invalid},
		"NotReadable":  {source: heads{head: usable, fail: &tool.Error{Kind: tool.Unavailable}}, kind: tool.Unavailable},
		"LongerName":   {source: heads{head: usable}, model: "acme2/m", kind: tool.Invalid},
		"NoModelAtAll": {source: heads{head: usable}, model: "acme2", kind: tool.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			k := searcher(t)
			k.principal.Tenant, k.tools[1].policy = "tenant", tt.policy
			model := "acme/m"
			if tt.model != "" {
				model = tt.model
			}
			a := &Activities{Config: Config{Resolver: resolver.New(tt.source, resolver.Options{})}}
			var got []agent.ProviderTool
			var err error
			inActivity(t, func(ctx context.Context) { got, err = a.provided(ctx, k, tool.Production, model) })
			if tt.kind != "" {
				require.Equal(t, tt.kind, tool.KindOf(err), "%v", err)
				return
			}
			require.NoError(t, err)
			if !tt.passed {
				require.Empty(t, got)
				return
			}
			require.Equal(t, []agent.ProviderTool{{
				Name: "ping", Provider: "acme", Tool: json.RawMessage(`{"type":"web_search_1","name":"web_search","max_uses":3}`),
			}}, got)
		})
	}
}

// inActivity runs f as an activity does.
func inActivity(t *testing.T, f func(ctx context.Context)) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivityWithOptions(func(ctx context.Context) error {
		f(ctx)
		return nil
	}, activity.RegisterOptions{Name: "f"})
	_, err := env.ExecuteActivity("f")
	require.NoError(t, err)
}

// What a provider's tool did is no part of what an answer says.
func TestPreviewLeavesOutWhatProvidersDid(t *testing.T) {
	t.Parallel()

	require.Equal(t, "Look.\nFound.", preview([]tool.Content{
		tool.Text("Look."), agent.ProviderBlock("acme", json.RawMessage(`{"type":"server_tool_use"}`)), tool.Text("Found."),
	}))
}
