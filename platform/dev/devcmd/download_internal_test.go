package devcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/dev"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/dev/programs"
	"github.com/toolcrib/toolcrib/platform/dev/programs/programstest"
	"github.com/toolcrib/toolcrib/tool"
)

// On a machine without PostgreSQL, the environment decides what is done, and a
// refusal is reported with how to fix it.
func TestDevWithoutPostgres(t *testing.T) {
	t.Parallel()
	artifact := programstest.Artifact(t)
	for name, tt := range map[string]struct {
		wish, stdin string
		says        []string
		asked       int
	}{
		"never":     {"never", "", []string{"not downloaded: TOOLCRIB_POSTGRES_DOWNLOAD is never"}, 0},
		"no":        {"ask", "n\n", []string{"Get PostgreSQL 17.5.0 from http://", "it was not confirmed"}, 0},
		"no answer": {"ask", "", []string{"it was not confirmed; TOOLCRIB_POSTGRES_DOWNLOAD=always does not ask"}, 0},
		"yes":       {"ask", "y\n", []string{"do not run here"}, 1},
		"unasked": {
			"", "", []string{"PostgreSQL is missing here. Getting PostgreSQL 17.5.0 from http://", "do not run here"}, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repository := programstest.Serve(t, artifact)
			var errs bytes.Buffer
			env := cli.Env{In: strings.NewReader(tt.stdin), Out: &errs, Err: &errs, Environ: []string{
				DownloadVariable + "=" + tt.wish, RepositoryVariable + "=" + repository.URL,
			}}
			fetch, err := download(env)
			require.NoError(t, err)
			fetch.Folder = filepath.Join(t.TempDir(), "cache")
			dir, err := os.MkdirTemp("", "toolcrib-dev-") //nolint:usetesting // Nobody else may pass through a TempDir.
			require.NoError(t, err)
			defer os.RemoveAll(dir)
			err = run(t.Context(), env, false, dev.Config{Stack: embedded.Config{
				DataDir: filepath.Join(dir, "data"), Headless: true, TemporalPort: embedded.AnyPort,
				Programs: &programs.Search{System: []string{"debian"}}, Download: fetch,
			}})
			require.Equal(t, tool.Unavailable, tool.KindOf(err))
			said := errs.String() + tool.AsError(err).Msg
			for _, says := range append([]string{"sudo apt-get update", "TOOLCRIB_DATABASE_URL"}, tt.says...) {
				require.Contains(t, said, says)
			}
			require.Equal(t, tt.asked, repository.Asked())
		})
	}

	_, err := download(cli.Env{Environ: []string{DownloadVariable + "=perhaps"}})
	require.ErrorContains(t, err, "it is never, ask or always")
}
