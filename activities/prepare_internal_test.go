package activities

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/confirm"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// testKit holds a tool that wants a query, and one without a schema.
func testKit(t *testing.T) *kit {
	t.Helper()
	cache := schema.New(0)
	k := &kit{
		principal: tool.Principal{Permissions: []string{"orders.read"}},
		confirms:  (&Activities{confirmations: confirm.NewCache()}).confirms,
	}
	for _, d := range []tool.Definition{
		{Name: "searchOrders", Description: "Searches.", InputSchema: json.RawMessage(
			`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`)},
		{Name: "ping", Description: "Pings."},
	} {
		input, err := cache.Compile(d.InputSchema)
		require.NoError(t, err)
		k.tools = append(k.tools, kitTool{
			pin: agent.Pin{VersionIdentity: tool.VersionIdentity{Slug: d.Name, Version: "1.0.0"}}, input: input,
			version: &tool.Version{Snapshot: tool.Snapshot{Definition: d}},
			policy:  tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto},
		})
	}
	return k
}

// A model is told of the pinned tools in the plan's order, with the schema of
// the pinned version, or an open object where there is none.
func TestSpecs(t *testing.T) {
	t.Parallel()

	specs := testKit(t).specs()
	require.Len(t, specs, 2)
	require.Equal(t, "searchOrders", specs[0].Name)
	require.Equal(t, "Searches.", specs[0].Description)
	require.Contains(t, string(specs[0].InputSchema), `"query"`)
	require.JSONEq(t, `{"type":"object"}`, string(specs[1].InputSchema))
}

func TestPrepareCalls(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name      string
		call      agent.Call
		arguments string
		receipt   string // A part of it.
		refused   tool.Kind
		msg       string
	}{
		{
			"AsItIs",
			agent.Call{Name: "searchOrders", Arguments: json.RawMessage(`{"query":"x"}`)},
			`{"query":"x"}`, "", "",
			"",
		},
		{
			"Coerced",
			agent.Call{Name: "searchOrders", Arguments: json.RawMessage(`{"query":"x","limit":"5"}`)},
			`{"query":"x","limit":5}`, "string_to_number", "", "",
		},
		{
			"Scalar",
			agent.Call{Name: "searchOrders", Arguments: json.RawMessage(`"open orders"`)},
			`{"query":"open orders"}`,
			"to_sole_property", "", "",
		},
		{
			"Alias",
			agent.Call{Name: "searchOrders", Arguments: json.RawMessage(`{"q":"x"}`)},
			`{"query":"x"}`,
			"property_alias", "", "",
		},
		{
			"Missing",
			agent.Call{Name: "searchOrders", Arguments: json.RawMessage(`{"limit":1}`)},
			"", "", tool.Invalid,
			"query",
		},
		{
			"Truncated",
			agent.Call{Name: "searchOrders", Arguments: json.RawMessage(`"{\"query\": \"x"`)},
			"", "",
			tool.Invalid, "",
		},
		{
			"UnknownTool",
			agent.Call{Name: "serchOrders", Arguments: json.RawMessage(`{}`)},
			"", "", tool.NotFound,
			"searchOrders, ping",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := testKit(t).prepare(t.Context(), tt.call)
			require.NoError(t, err)
			if tt.refused != "" {
				require.NotNil(t, got.Refused)
				require.Equal(t, tt.refused, got.Refused.Kind)
				require.Contains(t, got.Refused.Msg, tt.msg)
				return
			}
			require.Nil(t, got.Refused)
			require.JSONEq(t, tt.arguments, string(got.Arguments))
			require.Contains(t, string(got.Receipt), tt.receipt)
			require.NotEmpty(t, got.ArgumentsDigest)
		})
	}
}

// A call that was repaired while it was read from a text has a receipt of that, before those of
// its arguments.
func TestPrepareARepairedCall(t *testing.T) {
	t.Parallel()

	call := agent.Call{Name: "searchOrders", Arguments: json.RawMessage(`{"q":"x"}`), Repaired: true}
	got, err := testKit(t).prepare(t.Context(), call)
	require.NoError(t, err)
	require.Nil(t, got.Refused)
	var receipt schema.Receipt
	require.NoError(t, json.Unmarshal(got.Receipt, &receipt))
	require.Len(t, receipt, 2)
	require.Equal(t, schema.RuleRepair, receipt[0].Rule)
	require.Equal(t, schema.RuleAlias, receipt[1].Rule)
}

// An agent that has a tool by a former name may have that name in its
// instructions too: a call by it is one of the tool. A slug goes before it.
func TestPrepareByTheNameThatTheAgentHas(t *testing.T) {
	t.Parallel()

	k := testKit(t)
	k.tools[0].pin.AskedAs, k.tools[1].pin.AskedAs = "findOrders", "searchOrders"
	for name, want := range map[string]string{
		"findOrders": "searchOrders", "searchOrders": "searchOrders", "ping": "ping",
	} {
		got, err := k.prepare(t.Context(), agent.Call{Name: name, Arguments: json.RawMessage(`{"query":"x"}`)})
		require.NoError(t, err)
		require.Nil(t, got.Refused)
		require.Equal(t, want, got.Slug)
		require.Equal(t, name, got.Name, "the transcript has what the model said")
	}
	got, err := k.prepare(t.Context(), agent.Call{Name: "lookUpOrders"})
	require.NoError(t, err)
	require.NotNil(t, got.Refused)
}

// What policy does not allow is refused while the call is prepared, and says
// so: with an approval, where one would be needed and nobody can give it.
func TestPrepareAsksThePolicy(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		policy tool.Policy
		want   string
	}{
		"Write":     {tool.Policy{EgressClass: tool.EgressWrite}, "approval"},
		"AlwaysAsk": {tool.Policy{PermissionPolicy: tool.PermissionAlwaysAsk}, "approval"},
		"Permission": {
			tool.Policy{RequiredPermission: "orders.write"}, "the caller lacks the permission that the tool requires",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			k := testKit(t)
			k.tools[1].policy = tt.policy
			got, err := k.prepare(t.Context(), agent.Call{Name: "ping"})
			require.NoError(t, err)
			require.NotNil(t, got.Refused)
			require.Equal(t, tool.Denied, got.Refused.Kind)
			require.Contains(t, got.Refused.Msg, tt.want)
			require.NotContains(t, got.Refused.Msg, "denied", "the kind says it, and readers get both")
		})
	}
}

// The last call of an answer that was cut off is never executed, and a turn
// makes no more calls than it may.
func TestPrepareAllRefusesTheRest(t *testing.T) {
	t.Parallel()

	k := testKit(t)
	ping := agent.Call{Name: "ping"}
	calls, err := k.prepareAll(t.Context(), &agent.ModelResponse{Calls: []agent.Call{ping, ping, ping}, Truncated: true},
		agent.Limits{MaxCallsPerTurn: 1})
	require.NoError(t, err)
	require.Nil(t, calls[0].Refused)
	require.Equal(t, tool.Denied, calls[1].Refused.Kind)
	require.Equal(t, tool.Invalid, calls[2].Refused.Kind)
	require.NotEqual(t, calls[0].InvocationID, calls[1].InvocationID)
}
