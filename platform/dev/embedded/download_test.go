package embedded_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/dev/programs"
	"github.com/toolcrib/toolcrib/platform/dev/programs/programstest"
)

// Where PostgreSQL is missing, a server that was downloaded makes a cluster and
// answers; the next start finds it and downloads nothing.
func TestPostgresThatIsDownloaded(t *testing.T) {
	t.Parallel()
	repository := programstest.Serve(t, programstest.MachineArtifact(t))
	cache := filepath.Join(folder(t), "cache")
	var said bytes.Buffer
	cfg := embedded.PostgresConfig{
		Dir: filepath.Join(folder(t), "postgres"), Port: embedded.AnyPort, Programs: &programs.Search{Downloaded: cache},
		Download: &programs.Download{Repository: repository.URL, Folder: cache, Progress: &said},
	}
	for range 2 {
		p, err := embedded.StartPostgres(t.Context(), cfg)
		require.NoError(t, err)
		require.Equal(t, 42, query[int](t, p.URL(), "SELECT 6 * 7"))
		require.NoError(t, p.Stop(t.Context()))
	}
	require.Equal(t, 1, repository.Asked())
	require.Contains(t, said.String(), "downloading "+repository.URL)
}

// If PostgreSQL can be had nowhere, both ways that failed are reported, and how
// to fix that.
func TestPostgresThatCanBeHadNowhere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(folder(t), "postgres")
	cfg := embedded.PostgresConfig{
		Dir: dir, Programs: &programs.Search{Folders: []string{"/nowhere/*/bin"}, System: []string{"debian"}},
		Download: &programs.Download{Repository: "http://127.0.0.1:1", Folder: folder(t)},
	}
	_, err := embedded.StartPostgres(t.Context(), cfg)
	var missing *programs.MissingError
	require.ErrorAs(t, err, &missing)
	for _, says := range []string{
		"/nowhere/*/bin", "not downloaded", "http://127.0.0.1:1", "sudo apt-get", "TOOLCRIB_DATABASE_URL",
	} {
		require.ErrorContains(t, err, says)
	}
	cfg.Download = nil
	_, err = embedded.StartPostgres(t.Context(), cfg)
	require.ErrorAs(t, err, &missing)
	require.NotContains(t, err.Error(), "download")
	require.NoDirExists(t, dir)
}
