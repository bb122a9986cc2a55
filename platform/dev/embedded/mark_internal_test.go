package embedded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server whose port another one got leaves a mark without a status, and one
// that was killed leaves the mark of a process that is not ours.
func TestMark(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want mark
	}{
		"ready":     {"4711\n/data\n1700000000\n5432\n\n127.0.0.1\n  12  34\nready   \n", mark{pid: 4711, ready: true}},
		"starting":  {"4711\n/data\n1700000000\n5432\n\n127.0.0.1\n  12  34\nstarting\n", mark{pid: 4711}},
		"not bound": {"4711\n/data\n1700000000\n5432\n\n", mark{pid: 4711}},
		"cut short": {"", mark{}},
		"no number": {"postgres\n", mark{}},
		"everybody": {"-1\n", mark{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := markHome(t)
			require.NoError(t, os.WriteFile(home.path(markFile), []byte(c.text), 0o600))
			got, err := home.mark()
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestMarkOfNoServer(t *testing.T) {
	t.Parallel()
	got, err := markHome(t).mark()
	require.NoError(t, err)
	require.Equal(t, mark{}, got)
}

// markHome is a home without a cluster, where a mark can stand.
func markHome(t *testing.T) clusterHome {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, dataFolder), 0o700))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	home := clusterHome{dir: dir, root: root}
	t.Cleanup(func() { require.NoError(t, home.close()) })
	return home
}
