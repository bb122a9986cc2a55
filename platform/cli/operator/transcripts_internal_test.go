package operator

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A folder of transcripts that is not there is an error of the start, and not of
// the first run.
func TestTranscriptsExist(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "talk.yaml")
	require.NoError(t, os.WriteFile(file, []byte("turns: []\n"), 0o600))
	for name, tt := range map[string]struct{ transcripts, fails string }{
		"None":   {},
		"Folder": {transcripts: folder},
		"Missing": {
			transcripts: filepath.Join(folder, "absent"),
			fails:       "--transcripts: there is no folder " + filepath.Join(folder, "absent"),
		},
		"File": {transcripts: file, fails: "--transcripts: " + file + " is a file: give the folder that it is in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := WorkerFlags{Transcripts: tt.transcripts}
			_, err := f.Config(slog.New(slog.DiscardHandler), func(string) string { return "" })
			if tt.fails == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.fails)
		})
	}
}
