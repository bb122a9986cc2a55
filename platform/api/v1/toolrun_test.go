package v1_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// A call in the older shape has all of its fields, translated from the record.
func TestToToolRun(t *testing.T) {
	t.Parallel()

	began := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	ended := began.Add(120 * time.Millisecond)
	run := agent.Run{ID: "run"}
	var i tool.Invocation
	i.InvocationID, i.Slug, i.AgentID = "call", "getOrder", "agent"
	i.Principal = tool.Principal{Tenant: "t1", Subject: "key:a"}
	i.Input, i.StartedAt, i.CompletedAt = json.RawMessage(`{"id":1}`), &began, &ended
	i.Status = tool.StatusRunning
	_, over := v1.ToToolRun(i, run)
	require.False(t, over)

	i.Status, i.Output = tool.StatusCompleted, tool.JSONResult(json.RawMessage(`{"n":1}`))
	got, over := v1.ToToolRun(i, run)
	require.True(t, over)
	require.Equal(t, v1.ToolRun{
		ID: "call", Tenant: "t1", ToolSlug: "getOrder", UserID: "key:a", Input: i.Input, Output: json.RawMessage(`{"n":1}`),
		Status: "success", DurationMS: 120, Source: "agent", ChatID: "run", SessionID: "run",
	}, got)

	i.AgentID, i.IsError, i.Output = "", true, tool.ErrorResult("no such order")
	i.Principal.Subject = "user:issuer/ada"
	got, _ = v1.ToToolRun(i, run)
	require.Equal(t, "error", got.Status)
	require.Equal(t, "no such order", got.Error)
	require.JSONEq(t, `"no such order"`, string(got.Output))
	require.Equal(t, "web", got.Source)

	i.Status, i.Output, i.Error, i.Principal.Subject = tool.StatusFailed, nil, "timeout", "key:a"
	got, _ = v1.ToToolRun(i, run)
	require.Equal(t, "error", got.Status)
	require.Equal(t, "timeout", got.Error)
	require.Equal(t, "api", got.Source)
}
