package cli_test

import (
	"bytes"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/commands"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// shell runs command lines against a server on a database of its own, whose
// Temporal is down: package devcmd tests what needs one.
type shell struct {
	*storetest.Database
	vars    map[string]string
	dir     string
	tenant  tool.TenantID
	columns int // Of the terminal that commands write to; 0 for none.
}

func setup(t *testing.T, change ...func(*serve.HandlerConfig)) *shell {
	t.Helper()
	s := &shell{Database: storetest.NewDatabase(t), dir: t.TempDir()}
	temporal, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", Logger: sdklog.NewStructuredLogger(nil)})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	cfg := serve.HandlerConfig{Store: s.Store, Temporal: temporal}
	for _, fn := range change {
		fn(&cfg)
	}
	handler, err := serve.Handler(t.Context(), cfg)
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	s.tenant = s.Tenant(t)
	s.vars = map[string]string{cli.ServerVariable: server.URL, cli.KeyVariable: s.Key(t, s.tenant, "*")}
	return s
}

// ended is how a command ended.
type ended struct {
	code     int
	out, err string
}

func (s *shell) run(t *testing.T, args ...string) ended {
	t.Helper()
	return s.pipe(t, "", args...)
}

func (s *shell) pipe(t *testing.T, stdin string, args ...string) ended {
	t.Helper()
	var out, errs bytes.Buffer
	env := cli.Env{
		In: strings.NewReader(stdin), Out: &out, Err: &errs, Dir: s.dir, Patience: time.Minute,
		Terminal: func(io.Writer) (int, bool) { return s.columns, s.columns > 0 },
	}
	for name, value := range s.vars {
		env.Environ = append(env.Environ, name+"="+value)
	}
	return ended{cli.Run(t.Context(), env, args, commands.New, operator.New), out.String(), errs.String()}
}

// ok runs a command that must succeed and returns what it wrote.
func (s *shell) ok(t *testing.T, args ...string) string {
	t.Helper()
	got := s.run(t, args...)
	require.Equal(t, cli.ExitOK, got.code, "%s\n%s%s", args, got.out, got.err)
	return got.out
}

// write makes a file in the shell's folder and returns its path.
func (s *shell) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
