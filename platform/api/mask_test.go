package api_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/ledger"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// A value that no operator registered, such as a password that a caller gives,
// is hidden in runs, messages, invocations and events, until the tenant chooses
// otherwise. The database keeps it for the calls under way.
func TestRecordsHideWhatLooksLikeASecret(t *testing.T) {
	t.Parallel()

	b := setup(t)
	const planted = "hush-4f1c9e7a"
	arguments := json.RawMessage(`{"user":"ada","smtppassword":"` + planted +
		`","headers":[{"name":"DD-API-KEY","value":"` + planted + `"}],"max_tokens":5}`)
	principal := tool.Principal{Tenant: b.tenant, Subject: "test"}
	run, err := b.Store.CreateRun(t.Context(), agent.Run{
		Tenant: b.tenant, Kind: agent.RunKindToolCall, Mode: tool.Production, WorkflowID: "w", Input: arguments,
	}, agent.Message{Content: []tool.Content{
		tool.JSON(arguments), tool.Text("log in with curl -u ada:" + planted),
		{Type: tool.ContentResource, MIMEType: "application/vnd.shop+json", Data: arguments},
	}})
	require.NoError(t, err)
	invocation := uuid.Must(uuid.NewV7()).String()
	_, err = b.Store.Settle(t.Context(), ledger.Settlement{
		Entry: ledger.Entry{
			CallIdentity: tool.CallIdentity{
				InvocationID: invocation,
				Principal:    principal,
				RunID:        run.ID,
				CallID:       "c",
				Mode:         tool.Production,
			}, VersionIdentity: tool.VersionIdentity{Slug: "login"},
			Arguments: arguments,
		},
		Status: tool.StatusFailed, Kind: tool.Invalid, Msg: "refused password=" + planted,
	})
	require.NoError(t, err)

	require.NoError(t, b.Store.WriteNodes(t.Context(), graph.Run{Tenant: run.Tenant, RunID: run.ID, EffectID: "g"},
		[]graph.Record{{
			Path: "a", Node: "a", Kind: flow.Tool, Status: graph.Completed, Result: arguments, State: arguments,
			Text: "password=" + planted, EndedAt: time.Now(),
		}}))

	paths := []string{
		"/v1/runs/" + run.ID,
		"/v1/runs",
		"/v1/runs/" + run.ID + "/messages",
		"/v1/runs/" + run.ID + "/events",
		"/v1/runs/" + run.ID + "/nodes",
		"/v1/events",
		"/v1/invocations/" + invocation,
		"/v1/invocations",
	}
	shown := func() string {
		var all strings.Builder
		for _, path := range paths {
			got := b.do(t, http.MethodGet, path, "")
			require.Equal(t, http.StatusOK, got.status, path)
			all.Write(got.body)
		}
		return all.String()
	}
	masked := shown()
	require.NotContains(t, masked, planted)
	whole := base64.StdEncoding.EncodeToString(arguments) // As a block of bytes is written.
	require.NotContains(t, masked, whole)
	require.Contains(t, masked, `"smtppassword":"[redacted]"`)
	require.Contains(t, masked, `"user":"ada"`)
	require.Contains(t, masked, `"max_tokens":5`)

	stored, err := b.Store.FindInvocation(t.Context(), b.tenant, invocation)
	require.NoError(t, err)
	require.JSONEq(t, string(arguments), string(stored.Input), "the record itself is whole")

	var own v1.Tenant
	b.do(t, http.MethodPut, "/v1/tenants/"+string(b.tenant)+"/masking", `{"mask_sensitive":false}`).into(t, &own)
	require.False(t, own.MaskSensitive)
	require.Contains(t, shown(), planted)
	require.Contains(t, shown(), whole)
	b.do(t, http.MethodPut, "/v1/tenants/"+own.Slug+"/masking", `{"mask_sensitive":true}`).into(t, &own)
	require.True(t, own.MaskSensitive)
	require.NotContains(t, shown(), planted)

	reader := b.Key(t, b.tenant, "tenants.read", "runs.read")
	require.Equal(
		t, http.StatusForbidden,
		b.do(t, http.MethodPut, "/v1/tenants/"+own.Slug+"/masking", `{"mask_sensitive":false}`, reader).status,
	)
	require.Equal(
		t, http.StatusNotFound, b.do(t, http.MethodPut, "/v1/tenants/other/masking", `{"mask_sensitive":false}`).status,
	)
}
