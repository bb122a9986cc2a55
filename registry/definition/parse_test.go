package definition_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

func TestParseTool(t *testing.T) {
	t.Parallel()

	full := `{
		"kind":"tool","slug":"getOrder","name":"Get order","description":"d","category":"shop","version":"1.2.0","publish":true,
		"egress_class":"read_only","permission_policy":"always_ask","required_permission":"orders.read","tenant_slugs":["acme"],
		"implementation_type":"http","implementation_config":{"url":"https://example.com","someHeader":"x"},
		"input_schema":{"type":"object","properties":{"orderId":{"type":"string"}}},
		"execution":{"is_pure":true,"concurrency_group":"shop","max_concurrency":3,"timeout_s":5},
		"interaction":{"intent":"render","visible":true}}`
	d, err := definition.Parse([]byte(full))
	require.NoError(t, err)
	require.Equal(t, "tool", d.Kind())
	s := d.Tool
	require.Equal(t, "getOrder", d.Slug())
	require.Equal(t, tool.HTTP, s.Implementation)
	require.JSONEq(t, `{"url":"https://example.com","someHeader":"x"}`, string(s.Config),
		"the executor's names are its own")
	require.JSONEq(t, `{"type":"object","properties":{"orderId":{"type":"string"}}}`, string(s.InputSchema))
	require.Equal(t, tool.Execution{Pure: true, ConcurrencyGroup: "shop", MaxConcurrency: 3, TimeoutSeconds: 5},
		s.Execution)
	require.Equal(t, tool.Render, s.Interaction.Intent)
	require.True(t, *s.Interaction.Visible)
	require.Equal(t, tool.PermissionAlwaysAsk, s.PermissionPolicy)
	require.True(t, s.Publish)

	// Every spelling of the sources means the same.
	for name, raw := range map[string]string{
		"camel case":      `{"slug":"a","inputSchema":{"type":"object"},"isAsync":true,"timeout":2000,"requiresApproval":true,"implementationType":"internal"}`,
		"input":           `{"slug":"a","input":{"type":"object"},"is_async":true,"timeout_s":2,"requires_approval":true,"implementation_type":"internal"}`,
		"parameters":      `{"name":"a","parameters":{"type":"object"},"interaction":{"isAsync":true},"execution":{"timeoutS":2},"requires_approval":true,"executionType":"internal"}`,
		"nested":          `{"slug":"a","schema":{"input":{"type":"object"}},"config_schema":{"execution":{"timeout_s":2},"implementation":{"type":"internal"}},"is_async":true,"requires_approval":true}`,
		"timeout as text": `{"key":"a","input":{"type":"object"},"isAsync":true,"timeoutMs":2000,"requires_approval":true,"type":null,"implementation_type":"internal","id":"x","created_at":"y"}`,
	} {
		d, err := definition.Parse([]byte(raw))
		require.NoError(t, err, name)
		s := d.Tool
		require.Equal(t, "a", s.Slug, name)
		require.JSONEq(t, `{"type":"object"}`, string(s.InputSchema), name)
		require.True(t, s.Interaction.Async, name)
		require.InDelta(t, 2, s.Execution.TimeoutSeconds, 0, name)
		require.True(t, s.RequiresApproval, name)
		require.Equal(t, tool.Internal, s.ImplementationType(), name)
	}
}

// Timeouts are kept to the millisecond, in whatever unit they are given.
func TestParseTimeouts(t *testing.T) {
	t.Parallel()

	for given, want := range map[string]time.Duration{
		`"timeout":1500`:                 1500 * time.Millisecond,
		`"timeout_ms":1`:                 time.Millisecond,
		`"timeoutMs":30000`:              30 * time.Second,
		`"timeout_s":2.5`:                2500 * time.Millisecond,
		`"execution":{"timeout_s":0.07}`: 70 * time.Millisecond,
		`"timeout":0`:                    tool.DefaultTimeout,
	} {
		d, err := definition.Parse([]byte(`{"slug":"a","implementation_type":"internal",` + given + `}`))
		require.NoError(t, err, given)
		require.Equal(t, want, d.Tool.Execution.Timeout(), given)
		raw, err := json.Marshal(d.Tool.Execution)
		require.NoError(t, err)
		var back tool.Execution
		require.NoError(t, json.Unmarshal(raw, &back))
		require.Equal(t, want, back.Timeout(), string(raw))
	}
}

func TestParseForms(t *testing.T) {
	t.Parallel()

	parse := func(raw string) *definition.ToolSpec {
		d, err := definition.Parse([]byte(raw))
		require.NoError(t, err)
		return d.Tool
	}
	s := parse(
		`{"name":"fetchWeather","description":"d","inputSchema":{"type":"object"},"executionType":"gateway","execution":{"url":"https://example.com","method":"GET","headers":{"A":"b"}},"visible":true}`,
	)
	require.Equal(t, tool.HTTP, s.Implementation)
	require.JSONEq(t, `{"url":"https://example.com","method":"GET","headers":{"A":"b"}}`, string(s.Config))
	require.Equal(t, tool.Execution{}, s.Execution)

	s = parse(`{"name":"fetchExternalData","executionType":"external","timeout":10000}`)
	require.Equal(t, tool.Client, s.Implementation)
	require.True(t, s.Shown(), "only internal tools are hidden by default")
	require.InDelta(t, 10, s.Execution.TimeoutSeconds, 0)

	s = parse(`{"name":"publishView","executionType":"gateway","visibility":"internal"}`)
	require.Equal(t, tool.VisibilityInternal, s.Interaction.Visibility)
	require.True(t, s.Shown(), "visibility and visible are fields of their own")

	s = parse(`{"slug":"refundOrder","risk":{"level":"high","reason":"Pays money back.","data":["payment"]}}`)
	require.Equal(t, &tool.Risk{Level: tool.RiskHigh, Reason: "Pays money back.", Data: []string{"payment"}},
		s.Interaction.Risk)

	s = parse(
		`{"name":"confirmAction","type":"CLIENT","requiresConfirmation":true,"requiresResponse":true,"defaultResult":{"ok":true},"aliases":["c"],"audience":"user"}`,
	)
	require.Equal(t, tool.Client, s.Implementation)
	require.Equal(t, tool.PermissionAlwaysAsk, s.PermissionPolicy)
	require.True(t, s.Interaction.RequiresResponse)
	require.Equal(t, tool.AudienceUser, s.Interaction.Audience)
	require.JSONEq(t, `{"ok":true}`, string(s.Interaction.DefaultResult))

	s = parse(`{"name":"refundOrder","requiresConfirmation":"input.amount > 100","confirmationMessage":"Refund {{input.amount}}?"}`)
	require.Equal(t, &tool.Confirmation{When: "input.amount > 100", Message: "Refund {{input.amount}}?"},
		s.Interaction.Confirmation)
	s = parse(`{"name":"refundOrder","requiresConfirmation":true,"confirmationMessage":"Refund {{input.amount}}?"}`)
	require.Equal(t, &tool.Confirmation{Message: "Refund {{input.amount}}?"}, s.Interaction.Confirmation)
	require.Equal(t, tool.PermissionAlwaysAsk, s.PermissionPolicy)

	s = parse(`{"name":"renderChart","type":"CLIENT","requiresResponse":false}`)
	require.JSONEq(t, `{"success":true}`, string(s.Interaction.DefaultResult), "or its calls would wait")
	s = parse(`{"name":"renderChart","type":"CLIENT"}`)
	require.Nil(t, s.Interaction.DefaultResult)

	s = parse(
		`{"name":"lookupIssue","type":"mcp","mcpConfig":{"serverName":"x","serverUrl":"https://example.com/mcp","transport":"sse"}}`,
	)
	require.JSONEq(t, `{"server_url":"https://example.com/mcp","transport":"sse","tool_name":"lookupIssue"}`,
		string(s.Config))
	s = parse(
		`{"name":"lookupIssue","type":"mcp","mcpConfig":{"serverUrl":"https://example.com/mcp","transport":"http"}}`,
	)
	require.JSONEq(t, `{"server_url":"https://example.com/mcp","tool_name":"lookupIssue"}`, string(s.Config))
}

func TestParseRefusals(t *testing.T) {
	t.Parallel()

	tests := []struct{ name, raw, path, text string }{
		{"not an object", `[]`, "", "an object"},
		{"not JSON", `{`, "", "an object"},
		{"another kind", `{"kind":"robot"}`, "/kind", "tool, agent, mcp_server, artifact, pipeline, profile or toolset"},
		{"a typo", `{"slug":"a","categry":"d"}`, "/categry", "did you mean category?"},
		{"a typo in a camel-case name", `{"slug":"a","inputShema":{}}`, "/input_shema", "did you mean input_schema?"},
		{"a typo within", `{"slug":"a","execution":{"is_pur":true}}`, "/execution/is_pur", "did you mean is_pure?"},
		{"something else entirely", `{"slug":"a","frobnicate":1}`, "/frobnicate", "expected one of"},
		{"the same in two spellings", `{"slug":"a","isAsync":true,"is_async":false}`, "/is_async", "two spellings"},
		{"the same under two names", `{"slug":"a","input":{},"parameters":{}}`, "/parameters", "the same field"},
		{"the wrong type", `{"slug":5}`, "/slug", "expected a string, got a number: put it in quotes"},
		{
			"the wrong type within", `{"slug":"a","execution":{"timeout_s":"5"}}`, "/execution/timeout_s",
			"expected a number, got a string",
		},
		{"two timeouts", `{"slug":"a","timeout":5,"timeout_s":5}`, "/timeout", "once"},
		{"an unknown execution type", `{"slug":"a","executionType":"magic"}`, "/execution_type", "gateway"},
		{
			"a confirmation that is none", `{"slug":"a","requiresConfirmation":7}`, "/requires_confirmation",
			"true, false, or a condition",
		},
		{"an unknown part of schema", `{"slug":"a","schema":{"inputz":{}}}`, "/schema/inputz", "did you mean input?"},
		{"a bad tool reference", `{"kind":"agent","slug":"a","tools":["not a ref"]}`, "", "tool reference"},
		{"a typo in an agent", `{"kind":"agent","slug":"a","modell":"x/y"}`, "/modell", "did you mean model?"},
		{
			"a typo in limits", `{"kind":"agent","slug":"a","limits":{"maxTurn":1}}`, "/limits/max_turn",
			"did you mean max_turns?",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, err := definition.Parse([]byte(tt.raw))
			registrytest.RequireRefused(t, err, tool.Invalid, tt.path, tt.text)
		})
	}
}

func TestParseAgent(t *testing.T) {
	t.Parallel()

	d, err := definition.Parse([]byte(`{"kind":"agent","slug":"desk","systemPrompt":"Help.","model":"scripted/desk",
		"modelOptions":{"topK":3},"toolMode":"parallel_safe","tools":["findOrder@^1","sendMail"],"limits":{"maxTurns":4},"publish":true}`))
	require.NoError(t, err)
	require.Equal(t, "agent", d.Kind())
	a := d.Agent
	require.Equal(t, "Help.", a.Instructions)
	require.Equal(t, agent.ParallelSafe, a.ToolMode)
	require.Equal(t, []tool.Ref{{Slug: "findOrder", Constraint: "^1"}, {Slug: "sendMail"}}, a.Tools)
	require.Equal(t, 4, a.Limits.MaxTurns)
	require.JSONEq(t, `{"topK":3}`, string(a.ModelOptions))
	require.True(t, a.Publish)
}

func FuzzParseDefinition(f *testing.F) {
	for _, seed := range []string{
		`{"slug":"a"}`, `{"kind":"agent","slug":"a","tools":["x@^1"]}`, `{"schema":{"input":null},"timeout":1e400}`,
		`{"execution":{"url":1}}`, `{"mcpConfig":{}}`, `{"interaction":[]}`, `{"execution_config":{"timeoutS":-1}}`, `null`,
		`{"":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err := definition.Parse(raw)
		if err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err))
		}
	})
}
