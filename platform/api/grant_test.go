package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

const grantsPath = "/v1/approval-grants"

func TestGrants(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.refund(t)
	clerk, subject := b.principal(t, "approvals.read", "approvals.decide")
	made := as[v1.Grant](t, b.do(t, http.MethodPost, grantsPath,
		`{"tool":"refund","version":"^1","when":"input.amount <= 50","uses":2,"expires_s":3600,"reason":"small"}`, clerk),
		http.StatusCreated)
	require.Equal(t, wait.GrantActive, made.Status)
	require.Equal(t, subject, made.CreatedBy)
	require.Contains(t, made.Covers, "calls of refund@^1 where input.amount <= 50, 2 times, until ")
	require.Equal(t, made, as[v1.Grant](t, b.do(t, http.MethodGet, grantsPath+"/"+made.ID, "", clerk), http.StatusOK))

	second := as[v1.Grant](t, b.do(t, http.MethodPost, grantsPath, `{"tool":"refund","uses":1,"expires_s":60}`, clerk),
		http.StatusCreated)
	page := as[v1.Page[v1.Grant]](t, b.do(t, http.MethodGet, grantsPath+"?limit=1", "", clerk), http.StatusOK)
	require.Equal(t, []v1.Grant{second}, page.Items)
	next := grantsPath + "?limit=1&cursor=" + page.Next
	page = as[v1.Page[v1.Grant]](t, b.do(t, http.MethodGet, next, "", clerk), http.StatusOK)
	require.Equal(t, []v1.Grant{made}, page.Items)
	require.Empty(t, page.Next)

	revoked := as[v1.Grant](t, b.do(t, http.MethodPost, grantsPath+"/"+made.ID+"/revoke", "", clerk), http.StatusOK)
	require.Equal(t, wait.GrantRevoked, revoked.Status)
	require.Equal(t, subject, revoked.RevokedBy)
	again := as[v1.Grant](t, b.do(t, http.MethodPost, grantsPath+"/"+made.ID+"/revoke", ""), http.StatusOK)
	require.Equal(t, revoked, again, "a revoked grant stays as it is")
	active := grantsPath + "?active=true&tool=refund"
	page = as[v1.Page[v1.Grant]](t, b.do(t, http.MethodGet, active, "", clerk), http.StatusOK)
	require.Equal(t, []v1.Grant{second}, page.Items)
}

func TestGrantsAreRefused(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.refund(t)
	for name, c := range map[string]struct {
		body string
		kind tool.Kind
		path string
	}{
		"no tool":           {`{"uses":1,"expires_s":60}`, tool.Invalid, ""},
		"an unknown tool":   {`{"tool":"refundd","uses":1,"expires_s":60}`, tool.NotFound, ""},
		"an unknown agent":  {`{"tool":"refund","agent":"desk","uses":1,"expires_s":60}`, tool.NotFound, ""},
		"no constraint":     {`{"tool":"refund","version":"one","uses":1,"expires_s":60}`, tool.Invalid, "/version"},
		"no CEL":            {`{"tool":"refund","when":"input.amount >","uses":1,"expires_s":60}`, tool.Invalid, "/when"},
		"no condition":      {`{"tool":"refund","when":"1 + 1","uses":1,"expires_s":60}`, tool.Invalid, "/when"},
		"no such argument":  {`{"tool":"refund","when":"input.amuont < 5","uses":1,"expires_s":60}`, tool.Invalid, "/when"},
		"no use":            {`{"tool":"refund","uses":0,"expires_s":60}`, tool.Invalid, "/uses"},
		"too many uses":     {`{"tool":"refund","uses":10001,"expires_s":60}`, tool.Invalid, "/uses"},
		"too short":         {`{"tool":"refund","uses":1,"expires_s":59}`, tool.Invalid, "/expires_s"},
		"longer than 90 d":  {`{"tool":"refund","uses":1,"expires_s":7776001}`, tool.Invalid, "/expires_s"},
		"a misspelt member": {`{"tool":"refund","uses":1,"expires_s":60,"agents":"desk"}`, tool.Invalid, "/agents"},
	} {
		p := b.do(t, http.MethodPost, grantsPath, c.body).problem(t)
		require.Equal(t, c.kind, p.Code, "%s: %s", name, p.Detail)
		require.Equal(t, c.path, p.Path, "%s: %s", name, p.Detail)
	}

	made := as[v1.Grant](t, b.do(t, http.MethodPost, grantsPath, `{"tool":"refund","uses":1,"expires_s":60}`),
		http.StatusCreated)
	reader, _ := b.principal(t, "approvals.read")
	stranger := b.Key(t, b.Tenant(t), "*")
	for _, c := range []struct {
		method, path, key string
		status            int
	}{
		{http.MethodPost, grantsPath, reader, http.StatusForbidden},
		{http.MethodPost, grantsPath + "/" + made.ID + "/revoke", reader, http.StatusForbidden},
		{http.MethodGet, grantsPath + "/" + made.ID, stranger, http.StatusNotFound},
		{http.MethodPost, grantsPath + "/" + made.ID + "/revoke", stranger, http.StatusNotFound},
		{http.MethodGet, grantsPath + "/" + uuid.NewString(), reader, http.StatusNotFound},
		{http.MethodGet, grantsPath + "/seven", reader, http.StatusNotFound},
	} {
		body := ""
		if c.path == grantsPath {
			body = `{"tool":"refund","uses":1,"expires_s":60}`
		}
		require.Equal(t, c.status, b.do(t, c.method, c.path, body, c.key).status, "%s %s", c.method, c.path)
	}
}
