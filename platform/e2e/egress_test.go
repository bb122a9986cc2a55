package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// A tool that tries more than its egress class permits sends nothing. The error
// of its call says what to change, and the run reports the drift.
func TestDriftIsRefusedAndTold(t *testing.T) {
	t.Parallel()

	const asks = `{"type":"object","properties":{"method":{"type":"string"},"url":{"type":"string"}}}`
	define := func(implementation tool.Implementation, config map[string]any) tool.Definition {
		raw, err := json.Marshal(config)
		require.NoError(t, err)
		return tool.Definition{
			Name: "effect", Description: "Has an effect.", Implementation: implementation, Config: raw,
			InputSchema: json.RawMessage(asks), Execution: tool.Execution{Pure: true, MaxAttempts: 3},
		}
	}
	tests := []struct {
		name       string
		definition func(url string) tool.Definition
		class      tool.Egress // That it was published with.
		lowered    tool.Egress // That its owner set afterwards.
		arguments  string
		attempted  string
		says       string
	}{
		{"MethodOfALoweredTool", func(url string) tool.Definition {
			return define(tool.HTTP, map[string]any{"method": "POST", "url": url})
		}, tool.EgressWrite, tool.EgressReadOnly, `{}`, "POST", "set its egress_class to write"},
		{"ClassNone", func(url string) tool.Definition {
			return define(tool.HTTP, map[string]any{"method": "GET", "url": url})
		}, tool.EgressReadOnly, tool.EgressNone, `{}`, "GET", "set its egress_class to read_only or write"},
		{
			"MethodInAHeader", func(url string) tool.Definition {
				return define(tool.HTTP, map[string]any{
					"method": "GET", "url": url,
					"headers": map[string]any{"X-HTTP-Method-Override": map[string]any{"from": "/method"}},
				})
			}, tool.EgressReadOnly, tool.EgressReadOnly, `{"method":"DELETE"}`, "X-Http-Method-Override",
			"it may not send X-Http-Method-Override",
		},
		{"MethodOfTheModel", func(string) tool.Definition {
			return define(tool.Internal, map[string]any{"builtin": "http_request"})
		}, tool.EgressWrite, tool.EgressReadOnly, `{"method":"POST","url":"$URL"}`, "POST", "set its egress_class to write"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			c := newCanary(t)
			s := newSite(t)
			definition := tt.definition(c.URL)
			if definition.Implementation == tool.Internal {
				_, err := serve.Migrate(t.Context(), s.db.URL, quiet()) // It stands on the platform's own tool.
				require.NoError(t, err)
			}
			head := s.publish("effect", definition, tool.Policy{EgressClass: tt.class})
			head.Policy.EgressClass, head.Policy.RequiresApproval = tt.lowered, false
			_, err := s.UpdateTool(t.Context(), head)
			require.NoError(t, err)
			s.start(worker.Config{Allow: allow(c)})

			_, id, _, err := s.toolCall("effect", strings.ReplaceAll(tt.arguments, "$URL", c.URL))
			require.Equal(t, tool.Denied, tool.KindOf(failure.Decode(err)), "%v", err)
			ended := s.invocations(id)[0]
			require.Equal(t, tool.StatusFailed, ended.Status)
			require.Equal(t, tool.Denied, ended.ErrorKind)
			require.Contains(t, ended.Error, tt.says)
			require.Equal(t, 1, ended.Attempt, "what is refused is not tried again")
			requests, _ := c.count()
			require.Zero(t, requests)

			warnings := s.warnings(id)
			require.Len(t, warnings, 1)
			require.JSONEq(t, `{"tool":"effect","version":"1.0.0","call_id":"call","reason":"egress_drift","declared":"`+
				string(tt.lowered)+`","attempted":"`+tt.attempted+`"}`, string(warnings[0].Data))
			require.Equal(t, ended.InvocationID, warnings[0].InvocationID)
		})
	}
}

// Egress rules that are narrowed hold for the next call, also in a run that has
// begun and is pinned to the tool's version.
func TestNarrowedRulesHoldAtOnce(t *testing.T) {
	t.Parallel()

	c := newCanary(t)
	s := newSite(t)
	head := s.publish("effect", httpTool(c.URL, purely), tool.Policy{
		EgressClass: tool.EgressReadOnly, EgressRules: tool.EgressRules{Hosts: []string{"127.0.0.1"}},
	})
	turns := play([]agent.Call{
		call("c1", "effect", map[string]any{}),
	}, []agent.Call{call("c2", "effect", map[string]any{})})
	model := agent.ModelFunc(func(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if req.Turn == 2 {
			narrowed := head
			narrowed.Policy.EgressRules = tool.EgressRules{Hosts: []string{"elsewhere.example"}}
			if _, err := s.UpdateTool(ctx, narrowed); err != nil &&
				!errors.Is(err, definition.ErrChanged) { // A turn may be asked for again.
				return nil, fmt.Errorf("narrowing the rules: %w", err)
			}
		}
		return turns.Generate(ctx, req)
	})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "effect")})
	s.start(worker.Config{Allow: allow(c), Models: map[string]agent.Model{"test": model}})

	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	calls := s.invocations(run.ID)
	require.Len(t, calls, 2)
	require.Equal(t, tool.StatusCompleted, calls[0].Status, calls[0].Error)
	require.Equal(t, tool.StatusFailed, calls[1].Status)
	require.Equal(t, tool.Denied, calls[1].ErrorKind)
	require.Contains(t, calls[1].Error, "the egress rules do not allow this host")
	requests, _ := c.count()
	require.Equal(t, 1, requests)
	require.Empty(t, s.warnings(run.ID), "to be narrowed is no drift")
}

// warnings returns what a run warned of.
func (s *site) warnings(runID string) []tool.Event {
	s.t.Helper()
	events, err := s.ListEvents(s.t.Context(), s.principal.Tenant, runID, 0, 100)
	require.NoError(s.t, err)
	var out []tool.Event
	for _, e := range events {
		if e.Type == tool.EventWarning {
			out = append(out, e)
		}
	}
	return out
}
