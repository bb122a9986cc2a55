package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// A client that announces a body and never sends it does not keep a connection
// open for ever, for any method: the server's deadline holds until the body has
// arrived.
func TestBodiesThatNeverCome(t *testing.T) {
	t.Parallel()
	b := setup(t)
	server := httptest.NewUnstartedServer(b.server)
	server.Config.ReadTimeout = time.Second
	server.Start()
	t.Cleanup(server.Close)
	for name, head := range map[string]string{
		"without a key": "GET " + v1.ProblemsPath + " HTTP/1.1\r\n",
		"page":          "GET /v1/tools HTTP/1.1\r\nAuthorization: Bearer " + b.key + "\r\n",
		"stream":        "GET /v1/events HTTP/1.1\r\nAccept: text/event-stream\r\nAuthorization: Bearer " + b.key + "\r\n",
		"POST": "POST /v1/runs HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer " + b.key +
			"\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
			_, err = fmt.Fprintf(conn, "%sHost: x\r\nContent-Length: 5\r\n\r\n", head)
			require.NoError(t, err)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			defer resp.Body.Close()
			raw, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			got := answer{resp.StatusCode, resp.Header, raw}
			require.Equal(t, http.StatusRequestTimeout, got.status, string(raw))
			require.Equal(t, v1.ProblemsPath+"/"+v1.RequestTimeout, got.problem(t).Type)
			require.NotEmpty(t, got.header.Get(api.TraceHeader))
		})
	}
}

// A GET may have a body, up to the limit, which is ignored.
func TestBodiesOfReads(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.MaxBodyBytes = 1000 })
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/tools", `{"agent":`).status)
	got := b.do(t, http.MethodGet, "/v1/tools", string(make([]byte, 1001)))
	require.Equal(t, http.StatusRequestEntityTooLarge, got.status)
	require.Equal(t, v1.ProblemsPath+"/"+v1.BodyTooLarge, got.problem(t).Type)
}
