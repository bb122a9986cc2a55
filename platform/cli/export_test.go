package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

const exportYAML = `
kind: tool
slug: getOrder
name: "Get order: by number"
description: |
  Returns one order.

  Numbers look like SO-1007:
    - with "quotes" & <angles>
version: 1.2.0
publish: true
egress_class: read_only
required_permission: orders.read
egress_rules: {ports: [8443]}
implementation_type: http
implementation_config:
  method: GET
  url: https://orders.example.com:8443/orders/{order_id}
  headers: {X-Trace: "on", X-Number: "1e3", X-Empty: ""}
  auth: {type: header, header: X-Api-Key, credentials_ref: shop-api}
input_schema:
  type: object
  properties:
    order_id: {type: string, pattern: "^SO-[0-9]{4}$", description: "yes"}
    limit: {type: integer, maximum: 12345678901234567890}
    token: {type: string}
  required: [order_id]
execution: {is_pure: true, timeout_s: 5}
interaction:
  annotations: {team: "007", tags: [a, "b: c", "- d", ~], nested: [[1, 2.50], {x: true}], empty: {}}
  former_names: {findOrder: "2099-01-01"}
---
kind: tool
slug: notYet
implementation_type: internal
---
kind: tool
slug: stopped
implementation_type: internal
status: disabled
is_active: false
---
kind: agent
slug: clerk
instructions: "Look first.\n\tThen answer.\n"
model: scripted/clerk
tools: [getOrder@^1.2, notYet]
limits: {max_turns: 7}
skills: {short: {instructions: Be short.}}
`

// What is exported can be applied as it is, and changes nothing; on another
// server it makes the same.
func TestExportIsWhatApplyTakes(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(t, "apply", "-f", s.write(t, "in.yaml", exportYAML))
	tools, agents := filepath.Join(s.dir, "tools"), filepath.Join(s.dir, "agents.yaml")
	require.Contains(t, s.ok(t, "tool", "export", "--all", "-o", tools+"/"), "wrote 3 definitions to ")
	s.ok(t, "agent", "export", "clerk", "-o", agents)

	text := s.ok(t, "tool", "export", "getOrder")
	for _, says := range []string{
		"kind: tool\nslug: getOrder\nname: \"Get order: by number\"\n", "\npublish: true\n", "\n    header: X-Api-Key\n",
		"  annotations:\n", "team: \"007\"\n", "  former_names:\n    findOrder: \"2099-01-01\"\n",
	} {
		require.Contains(t, text, says)
	}
	require.NotContains(t, text, "redacted")
	require.NotContains(t, text, "revision")
	stored, err := os.ReadFile(filepath.Join(tools, "getOrder.yaml"))
	require.NoError(t, err)
	require.Equal(t, text, string(stored))

	applied := func(s *shell) (actions []string) {
		var out struct {
			Items []struct{ Action string }
		}
		require.NoError(t, json.Unmarshal([]byte(s.ok(t, "apply", "-f", tools, "-f", agents, "--json")), &out))
		for _, item := range out.Items {
			actions = append(actions, item.Action)
		}
		return actions
	}
	require.Equal(t, []string{"unchanged", "unchanged", "unchanged", "unchanged"}, applied(s))
	other := setup(t)
	require.Equal(t, []string{"created", "created", "created", "created"}, applied(other))
	require.Equal(t, text, other.ok(t, "tool", "export", "getOrder"))

	// A draft that was changed after it was published is reported, and not published.
	s.ok(t, "apply", "-f", s.write(t, "next.yaml", "slug: getOrder\nimplementation_type: internal\nversion: 2.0.0\n"))
	got := s.run(t, "tool", "export", "getOrder")
	require.NotContains(t, got.out, "publish")
	require.Contains(t, got.err, "warning: getOrder: what is exported is the draft")

	shown := s.write(t, "shown.json", s.ok(t, "tool", "show", "getOrder", "--json"))
	require.Contains(t, s.run(t, "apply", "-f", shown).err, "use toolcrib tool export")
	require.Contains(t, s.run(t, "tool", "export", "getOder").err, "Did you mean getOrder?")
	require.Equal(t, cli.ExitUsage, s.run(t, "tool", "export").code)
	require.Equal(t, cli.ExitNotFound, s.run(t, "tool", "export", "--source", "Orders").code)
}
