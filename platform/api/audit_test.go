package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// What a request changes is in the log, by its key and with its id; what it was denied is
// there too; and the chain verifies, from the server and from an export.
func TestAudit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	reader := b.Key(t, b.Tenant(t), "tools.read")
	b.apply(t, echo("say"))
	list := func(query string, key ...string) (out v1.Page[v1.AuditEntry]) {
		t.Helper()
		b.do(t, http.MethodGet, "/v1/audit"+query, "", key...).into(t, &out)
		return out
	}
	made := list("?object=say&action=tool.created").Items
	require.Len(t, made, 1)
	require.Equal(t, "key", made[0].Actor.Kind)
	require.Equal(t, "key:"+made[0].Actor.KeyID, made[0].Actor.Subject)
	require.NotEmpty(t, made[0].RequestID)
	require.Contains(t, string(made[0].After), "say")
	one := as[v1.AuditEntry](t, b.do(t, http.MethodGet, "/v1/audit/"+made[0].ID, ""), http.StatusOK)
	require.Equal(t, made[0].Object, one.Object)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/audit/"+made[0].Object.ID, "").status)

	first := list("?limit=1")
	require.NotEmpty(t, first.Next)
	require.NotEqual(t, first.Items[0].ID, list("?limit=1&cursor=" + first.Next).Items[0].ID)
	require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodGet, "/v1/audit?action=tool.eaten", "").status)

	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodGet, "/v1/audit", "", reader).status)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, "/v1/tools/say/disable", "", reader).status)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, "/v1/tools/say/disable", "", reader).status)
	require.Empty(t, list("?outcome=refused").Items, "another tenant's refusal is in its own log")
	own := b.Key(t, b.tenant, "tools.read", "keys.write")
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, "/v1/tools/say/disable", "", own).status)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, "/v1/tools/say/disable", "", own).status)
	require.Equal(t, http.StatusForbidden,
		b.do(t, http.MethodPost, "/v1/keys", `{"name":"more","permissions":["*"]}`, own).status)
	refused := list("?outcome=refused").Items
	require.Len(t, refused, 2, "the same refusal is one row a minute")
	require.Equal(t, "key.created", refused[0].Action)
	require.Equal(t, "tool.disabled", refused[1].Action)
	require.Equal(t, "say", refused[1].Object.Name)
	require.Contains(t, refused[1].Reason, "tools.write")

	require.NoError(t, b.Store.SealAudit(t.Context()))
	report := as[v1.AuditReport](t, b.do(t, http.MethodGet, "/v1/audit/verify", ""), http.StatusOK)
	require.Nil(t, report.Broken)
	require.True(t, report.Complete)
	require.NotZero(t, report.Seq)
	export := b.do(t, http.MethodGet, "/v1/audit/export", "")
	require.Equal(t, http.StatusOK, export.status)
	var v audit.Verifier
	for line := range strings.SplitSeq(strings.TrimSpace(string(export.body)), "\n") {
		var row v1.AuditRecord
		require.NoError(t, json.NewDecoder(bytes.NewBufferString(line)).Decode(&row))
		require.Nil(t, v.Next(row.Entry()))
	}
	require.Equal(t, audit.Head{Seq: report.Seq, Hash: report.Hash}, v.Head)
}

// Every endpoint that changes something says which action it stands for where it is denied.
func TestEveryChangeCanBeRefusedInTheAuditLog(t *testing.T) {
	t.Parallel()
	unrefused := map[string]string{
		"validateGraph": "changes nothing", "importGraph": "changes nothing", "searchPipeline": "reads",
		"diffDefinition": "changes nothing", "checkTool": "changes nothing", "encodePayloads": "changes nothing",
		"beginSession": "asks for no permission, and is of no tenant before", "endSession": "asks for no permission",
		"setTopics": "changes nothing", "parseMarkdown": "changes nothing",
		"endOwnSession": "asks for no permission", "endOtherSessions": "asks for no permission",
	}
	b := setup(t)
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(b.do(t, http.MethodGet, "/openapi.json", "").body, &doc))
	known, seen := map[audit.Action]bool{}, map[string]bool{}
	for _, a := range audit.Actions() {
		known[a.Action] = true
	}
	for path, item := range doc.Paths {
		for method, raw := range item {
			if !strings.Contains("post put patch delete", method) {
				continue
			}
			var op struct {
				ID string `json:"operationId"` //nolint:tagliatelle // OpenAPI's.
			}
			require.NoError(t, json.Unmarshal(raw, &op))
			seen[op.ID] = true
			action, ok := api.Refusable(op.ID)
			require.NotEqual(t, ok, unrefused[op.ID] != "", "%s %s: %s", method, path, op.ID)
			if ok {
				require.True(t, known[action], action)
			}
		}
	}
	require.Greater(t, len(seen), 60)
}

// A page of large rows is bounded by their bytes and goes on by its cursor: following it shows every row
// once, whatever the limit, and a row that is larger than a page is a page by itself.
func TestAuditPagesAreBoundedByBytes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const rows = 9
	_, err := b.Conn(t).Exec(t.Context(), `insert into audit_log (tenant_id, id, at, actor_kind, actor, action, object_kind,
			object_name, outcome, after)
		select $1, audit_id(now() + n * interval '1 ms'), now(), 'key', 'key:x', 'tool.draft_edited', 'tool', n::text, 'done',
			json_build_object('description', repeat('x', case n when 5 then 3000000 else 400000 end))
		from generate_series(1, $2) n`, b.tenant, rows)
	require.NoError(t, err)
	for _, limit := range []string{"", "&limit=200", "&limit=2", "&limit=1"} {
		var names []string
		pages := 0
		for cursor := ""; ; {
			got := b.do(t, http.MethodGet, "/v1/audit?action=tool.draft_edited"+limit+"&cursor="+cursor, "")
			page := as[v1.Page[v1.AuditEntry]](t, got, http.StatusOK)
			require.NotEmpty(t, page.Items)
			if len(page.Items) > 1 {
				require.Less(t, len(got.body), 5_000_000, "no more than a page and its last row")
			}
			for _, e := range page.Items {
				names = append(names, e.Object.Name)
			}
			pages++
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		require.Equal(t, []string{"9", "8", "7", "6", "5", "4", "3", "2", "1"}, names, limit)
		require.Greater(t, pages, 2, limit)
	}
}
