package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/tool"
)

const operatorToken = api.OperatorTokenPrefix + "ada"

// operator is a client of the operators' API, on the database of a bundle.
type operator struct {
	*bundle

	url string
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	b := setup(t)
	h, err := api.NewOperator(api.OperatorConfig{
		Platform: b.Platform, Registry: serve.GlobalTools(b.Platform),
		Tokens: api.OperatorTokens{sha256.Sum256([]byte(operatorToken)): "ada"},
	})
	require.NoError(t, err)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return &operator{b, server.URL}
}

func (o *operator) ask(t *testing.T, method, path, body, token string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, o.url+path, bytes.NewBufferString(body))
	require.NoError(t, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return answer{resp.StatusCode, resp.Header, raw}
}

// An operator makes a global tool, switches it on for every tenant, and stops it again, without SQL; the audit log
// has the operator's name.
func TestOperatorsManageGlobalTools(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	slug := "shared" + t.Name()[:1]
	definition := echo(slug)
	var applied v1.Applied
	for _, body := range []string{`{"dry_run":true,"definitions":[` + definition + `]}`, `{"definitions":[` +
		definition + `]}`} {
		got := o.ask(t, http.MethodPost, "/v1/platform/apply", body, operatorToken)
		require.Equal(t, http.StatusOK, got.status, "%s", got.body)
		got.into(t, &applied)
		require.Zero(t, applied.Failed, "%s", got.body)
		require.Equal(t, v1.Created, applied.Items[0].Action)
	}
	tools := "/v1/platform/tools/" + slug
	call := func() answer {
		return o.do(t, http.MethodGet, "/v1/tools/"+slug+"/explain?mode=production", "")
	}
	callable := func() bool {
		var e v1.Explanation
		got := call()
		require.Equal(t, http.StatusOK, got.status, "%s", got.body)
		got.into(t, &e)
		return e.Version != ""
	}
	require.False(t, callable(), "it is off until it is switched on")
	got := o.ask(t, http.MethodPut, tools+"/override", `{"enabled":true,"reason":"for all"}`, operatorToken)
	require.Equal(t, http.StatusOK, got.status, "%s", got.body)
	require.True(t, callable())

	var shown v1.GlobalToolDetail
	got = o.ask(t, http.MethodGet, tools, "", operatorToken)
	got.into(t, &shown)
	require.True(t, *shown.Override.Enabled)
	require.Len(t, shown.Versions, 1)
	var listed v1.Page[v1.GlobalTool]
	o.ask(t, http.MethodGet, "/v1/platform/tools?search="+slug+"&limit=1", "", operatorToken).into(t, &listed)
	require.Len(t, listed.Items, 1)

	require.Equal(t, http.StatusOK, o.ask(t, http.MethodPost, tools+"/disable", "", operatorToken).status)
	require.False(t, callable())
	require.Equal(t, http.StatusOK, o.ask(t, http.MethodPost, tools+"/enable", "", operatorToken).status)
	require.Equal(t, http.StatusOK, o.ask(t, http.MethodDelete, tools+"/override", "", operatorToken).status)
	require.False(t, callable())
	require.Equal(t, http.StatusConflict, o.ask(t, http.MethodDelete, tools, "", operatorToken).status, "it is published")

	entries, err := o.Platform.Audit().ListAudit(t.Context(), "", audit.Query{Action: "tool", Limit: 50})
	require.NoError(t, err)
	byAda := 0
	for _, e := range entries {
		if e.Actor.Subject == "operator:ada" {
			byAda++
		}
	}
	require.GreaterOrEqual(t, byAda, 3)
}

// Operators make tenants, and suspend and resume them.
func TestOperatorsManageTenants(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	var made v1.PlatformTenant
	got := o.ask(t, http.MethodPost, "/v1/platform/tenants", `{"slug":"made-by-operator"}`, operatorToken)
	require.Equal(t, http.StatusCreated, got.status, "%s", got.body)
	got.into(t, &made)
	require.Equal(t, "made-by-operator", made.Name)
	require.Equal(t, http.StatusConflict,
		o.ask(t, http.MethodPost, "/v1/platform/tenants", `{"slug":"made-by-operator"}`, operatorToken).status)
	for verb, status := range map[string]string{"suspend": "suspended", "resume": "active"} {
		o.ask(t, http.MethodPost, "/v1/platform/tenants/made-by-operator/"+verb, "", operatorToken).into(t, &made)
		require.Equal(t, status, made.Status)
	}
	require.Equal(t, http.StatusNotFound, o.ask(t, http.MethodGet, "/v1/platform/tenants/none", "", operatorToken).status)
	var listed v1.Page[v1.PlatformTenant]
	o.ask(t, http.MethodGet, "/v1/platform/tenants?limit=1", "", operatorToken).into(t, &listed)
	require.Len(t, listed.Items, 1)
}

// Each endpoint wants the token of an operator: an API key of a tenant, with every permission, is none.
func TestOperatorsAloneAreServed(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	var described struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	o.ask(t, http.MethodGet, "/openapi.json", "", "").into(t, &described)
	endpoints := 0
	for path, methods := range described.Paths {
		for method := range methods {
			for _, token := range []string{"", o.key, operatorToken + "x", api.OperatorTokenPrefix} {
				got := o.ask(t, strings.ToUpper(method), path, "", token)
				require.Equal(t, http.StatusUnauthorized, got.status, "%s %s %s", method, path, got.body)
				require.Equal(t, v1.ProblemType, got.header.Get("Content-Type"))
			}
			endpoints++
		}
	}
	require.GreaterOrEqual(t, endpoints, 15)
}

// What is wrong in a batch leaves everything as it was.
func TestOperatorsApplyAllOrNothing(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	var out v1.Applied
	body := `{"definitions":[` + echo("fineGlobal") + `,` + desk("no", `[]`) + `]}`
	o.ask(t, http.MethodPost, "/v1/platform/apply", body, operatorToken).into(t, &out)
	require.Equal(t, 1, out.Failed)
	require.Equal(t, v1.Skipped, out.Items[0].Action)
	require.Equal(t, tool.Invalid, out.Items[1].Error.Code)
	got := o.ask(t, http.MethodGet, "/v1/platform/tools/fineGlobal", "", operatorToken)
	require.Equal(t, http.StatusNotFound, got.status)
}
