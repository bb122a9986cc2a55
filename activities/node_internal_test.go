package activities

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// begun is a store whose only run began with a plan, of a tool that may not be
// used any more.
type begun struct {
	agent.Runs
	resolver.Source

	run agent.Run
}

func (b begun) BeginRun(_ context.Context, run agent.Run) (agent.Run, error) {
	if b.run.ID == "" {
		return run, nil
	}
	return b.run, nil
}

func (begun) Entries(context.Context, tool.TenantID, tool.Ref) (resolver.Candidates, error) {
	return resolver.Candidates{TenantActive: true, Entries: []resolver.Entry{{
		Tool: tool.Tool{ID: "search-id", Tenant: "tenant", Slug: "search", Status: tool.Disabled},
	}}}, nil
}

func (begun) Version(context.Context, tool.TenantID, string, string) (*tool.Version, error) {
	return &tool.Version{}, nil
}

func (begun) Policies(context.Context, tool.TenantID, []string) (map[string]tool.Policy, error) {
	return map[string]tool.Policy{"search-id": {EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto}}, nil
}

func loadPlan(t *testing.T, store begun) wire.LoadPlanOutput {
	t.Helper()
	a := &Activities{
		Config: Config{
			Runs: store, Policies: store, Resolver: resolver.New(store, resolver.Options{}), Schemas: schema.New(0),
		},
	}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivityWithOptions(a.LoadPlan, activity.RegisterOptions{Name: wire.LoadPlanActivity})
	value, err := env.ExecuteActivity(wire.LoadPlanActivity, wire.LoadPlanInput{
		Principal: tool.Principal{Tenant: "tenant"}, RunID: "run", Kind: agent.RunKindToolCall,
		Node: &wire.Node{ID: "call", Tool: tool.Ref{Slug: "search"}, Arguments: []byte(`{}`), Mode: tool.Production},
	})
	require.NoError(t, err)
	var out wire.LoadPlanOutput
	require.NoError(t, value.Get(&out))
	return out
}

// A worker may die under a call of which the history holds nothing, and the tool
// be disabled before another plans it again. Refused then, under no effect, the
// call would have a second record, and its first one no end.
func TestBegunCallKeepsItsPlan(t *testing.T) {
	t.Parallel()

	pin := agent.Pin{
		VersionIdentity: tool.VersionIdentity{
			ToolID:         "search-id",
			Slug:           "search",
			Version:        "1.0.0",
			Digest:         "digest",
			Implementation: tool.HTTP,
		}, Fast: true,
	}
	out := loadPlan(t, begun{run: agent.Run{
		ID: "run", Tenant: "tenant", Kind: agent.RunKindToolCall, Status: agent.RunRunning,
		Plan: &agent.Plan{Tools: []agent.Pin{pin}},
	}})
	require.Equal(t, []agent.Pin{pin}, out.Plan.Tools)
	require.Nil(t, out.Call.Refused, "whether it may run now is for its admission to say")
	require.NotEmpty(t, out.Call.ArgumentsDigest)

	out = loadPlan(t, begun{})
	require.Empty(t, out.Plan.Tools)
	require.Equal(t, tool.Conflict, out.Call.Refused.Kind, "a call that never began is refused")
}
