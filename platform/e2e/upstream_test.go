package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// What an upstream does, and what becomes of the call: the design's table of
// ends, on the wire. The upstream counts requests and their keys.
func TestUpstreamEnds(t *testing.T) {
	t.Parallel()

	status := func(code int) func(int, http.ResponseWriter, *http.Request) {
		return func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	hang := func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	reset := func(_ int, w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}
	brief := func(x tool.Execution) tool.Execution {
		x.MaxAttempts = 2
		return x
	}
	tests := []struct {
		name     string
		x        tool.Execution
		answer   func(int, http.ResponseWriter, *http.Request)
		status   tool.InvocationStatus
		kind     tool.Kind
		requests int
	}{
		{"PureServerError", brief(purely), status(500), tool.StatusFailed, tool.Unavailable, 2},
		{"PureHangs", brief(purely), hang, tool.StatusFailed, tool.Timeout, 2},
		{"IdempotentHangs", brief(idempotent), hang, tool.StatusFailed, tool.Timeout, 2},
		{"IdempotentReset", brief(idempotent), reset, tool.StatusFailed, tool.Unavailable, 2},
		{"OnceServerError", brief(onlyOnce), status(500), tool.StatusFailed, tool.Unavailable, 1},
		{"OnceHangs", brief(onlyOnce), hang, tool.StatusUnknown, tool.Unknown, 1},
		{"OnceReset", brief(onlyOnce), reset, tool.StatusUnknown, tool.Unknown, 1},
		{"OnceTooMany", brief(onlyOnce), status(429), tool.StatusFailed, tool.RateLimited, 1},
		{"PureTooMany", brief(purely), status(429), tool.StatusFailed, tool.RateLimited, 2},
		{"NotFound", brief(onlyOnce), status(404), tool.StatusCompleted, "", 1},
		{"Unprocessable", brief(purely), status(422), tool.StatusCompleted, "", 1},
		{"Unauthorized", brief(purely), status(401), tool.StatusFailed, tool.Denied, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			c := newCanary(t)
			c.answer = tt.answer
			s := newSite(t)
			s.publish("effect", httpTool(c.URL, tt.x), tool.Policy{EgressClass: tool.EgressReadOnly})
			s.start(worker.Config{Allow: allow(c)})
			_, id, result, err := s.toolCall("effect", `{}`)
			ended := s.invocations(id)[0]
			require.Equal(t, tt.status, ended.Status, "%s %v", ended.Error, err)
			require.Equal(t, tt.kind, ended.ErrorKind)
			require.True(t, ended.IsError)
			requests, keys := c.count()
			require.Equal(t, tt.requests, requests)
			require.Equal(t, 1, keys)
			if tt.kind == "" {
				require.NoError(t, err)
				require.True(t, result.IsError)
			}
			if tt.name == "OnceServerError" {
				require.Contains(t, ended.Error, "may have taken effect")
			}
		})
	}
}

// A connection that is refused carried nothing, so that even a call that must
// not be repeated is tried again; and when it gets through, it is sent once.
func TestRefusedConnectionIsTriedAgain(t *testing.T) {
	t.Parallel()

	// A port that is reserved, and that no process listens on until the first
	// attempt was refused.
	address, listen := reserve(t)

	s := newSite(t)
	x := onlyOnce
	x.MaxAttempts = 6
	s.publish("effect", httpTool("http://"+address, x), tool.Policy{EgressClass: tool.EgressReadOnly})
	s.start(worker.Config{Allow: map[tool.TenantID]worker.Allowance{"": {Hosts: []string{address}}}})
	c := newCanary(t)
	go func() {
		for t.Context().Err() == nil { // Until the first attempt begins.
			made, err := s.ListInvocations(t.Context(), s.principal.Tenant, store.InvocationQuery{Limit: 1})
			if err != nil || len(made) > 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(1200 * time.Millisecond) // After the first attempts, before the last.
		listener, err := listen()
		if err != nil {
			return
		}
		srv := &http.Server{Handler: c.Config.Handler, ReadHeaderTimeout: time.Second}
		go func() { <-t.Context().Done(); _ = srv.Close() }()
		_ = srv.Serve(listener)
	}()
	_, id, _, err := s.toolCall("effect", `{}`)
	require.NoError(t, err)
	ended := s.invocations(id)[0]
	require.Equal(t, tool.StatusCompleted, ended.Status)
	require.Greater(t, ended.Attempt, 1)
	requests, _ := c.count()
	require.Equal(t, 1, requests)
}

// reserve takes a port without listening on it, so that connections are refused
// and no other process gets it meanwhile.
func reserve(t *testing.T) (address string, listen func() (net.Listener, error)) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	syscall.CloseOnExec(fd)
	file := os.NewFile(uintptr(fd), "reserved")
	t.Cleanup(func() { _ = file.Close() })
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	bound, err := syscall.Getsockname(fd)
	require.NoError(t, err)
	at, ok := bound.(*syscall.SockaddrInet4)
	require.True(t, ok)
	return fmt.Sprintf("127.0.0.1:%d", at.Port), func() (net.Listener, error) {
		if err := syscall.Listen(fd, 16); err != nil {
			return nil, err
		}
		return net.FileListener(file) // It has a descriptor of its own.
	}
}

// everyRow returns the text of all rows of each table.
func everyRow(t *testing.T, db *storetest.Database) map[string]string {
	t.Helper()
	conn := db.Conn(t)
	rows, err := conn.Query(t.Context(), `select c.relname from pg_class c
		where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace`)
	require.NoError(t, err)
	var tables []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		tables = append(tables, name)
	}
	require.NoError(t, rows.Err())
	require.NotEmpty(t, tables)
	out := make(map[string]string, len(tables))
	for _, name := range tables {
		var all string
		require.NoError(
			t, conn.QueryRow(t.Context(), "select coalesce(string_agg(x::text, E'\\n'), '') from "+name+" x").Scan(&all),
		)
		out[name] = all
	}
	return out
}
