package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// An administrator trusts a server; who may only write tools cannot, nor does a definition. The audit log has it.
func TestTrustMCPServer(t *testing.T) {
	t.Parallel()

	remote := newRemoteServer(t)
	b := setup(t, discovering(t, remote.host))
	body := `{"slug":"files","server_url":"` + remote.url + `","allowed_tools":["read_file"]}`
	require.Equal(t, http.StatusCreated, b.do(t, http.MethodPost, "/v1/mcp/servers", body).status)
	const path = "/v1/mcp/servers/files"
	shown := func() string { return string(b.do(t, http.MethodGet, path, "").body) }
	require.NotContains(t, shown(), `"trusted"`)

	writer := b.Key(t, b.tenant, "tools.write", "tools.read")
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPut, path+"/trust", `{"trusted":true}`, writer).status)
	got := b.do(t, http.MethodPut, path+"/trust", `{"trusted":true}`)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	require.Contains(t, string(got.body), `"trusted":true`)
	require.Contains(t, string(b.do(t, http.MethodGet, "/v1/audit?limit=5", "").body), `"trusted"`)

	tools := `{"slug":"readFile","implementation_type":"mcp","description":"Reads a file. Use it to read.",
		"egress_class":"read_only","implementation_config":{"server":"files","tool_name":"read_file"}}`
	require.Equal(t, http.StatusCreated, b.do(t, http.MethodPost, "/v1/tools", tools).status)
	explained := func() string {
		return string(b.do(t, http.MethodGet, "/v1/tools/readFile/explain?mode=debug", "").body)
	}
	require.Contains(t, explained(), `results of server \"files\" are trusted`)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPut, path, body).status)
	require.Contains(t, shown(), `"trusted":true`, "the address is the same")
	moved := `{"server_url":"` + remote.url + `/elsewhere","allowed_tools":["read_file"]}`
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPut, path, moved).status)
	require.NotContains(t, shown(), `"trusted"`)
	require.Contains(t, explained(), `results of server \"files\" taint the run`)
}
