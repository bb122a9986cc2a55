package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
)

// Set for a copy of the test program that plays a process of its own.
const (
	roleVariable = "DEVSTACK_TEST_ROLE"
	dirVariable  = "DEVSTACK_TEST_DIR"
)

func TestMain(m *testing.M) {
	play, ok := roles[os.Getenv(roleVariable)]
	if ok {
		if err := play(context.Background(), os.Getenv(dirVariable)); err != nil {
			panic(err)
		}
		return
	}
	// The clusters under test are private.
	if err := os.Unsetenv(embedded.DatabaseURLVariable); err != nil {
		panic(err)
	}
	m.Run()
}

var roles = map[string]func(ctx context.Context, dir string) error{
	// Runs a cluster until it is killed.
	"hold": func(ctx context.Context, dir string) error {
		p, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{Dir: dir, Port: embedded.AnyPort})
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stdout, p.URL())
		<-p.Done()
		return nil
	},
	// Runs a cluster and stops it, and has nothing left running.
	"leak": func(ctx context.Context, dir string) error {
		p, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{Dir: dir, Port: embedded.AnyPort})
		if err != nil {
			return err
		}
		if err := p.Stop(ctx); err != nil {
			return err
		}
		return goleak.Find()
	},
}

// play starts a process in the role and returns it with the first line it
// prints, which is empty if it ended without one.
func play(t *testing.T, role, dir string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, dirVariable+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	lines.Scan()
	return cmd, lines.Text()
}

// folder returns a folder that the account that runs PostgreSQL can reach,
// which t.TempDir is not where the tests run as root.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "embedded-") //nolint:usetesting // See above.
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}
