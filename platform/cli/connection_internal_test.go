package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A key that the user named never goes to a server that a folder names, and a
// folder that others may write to, or that names another machine, names nothing.
func TestKeyNeverFollowsAFolder(t *testing.T) {
	t.Parallel()

	const local = "http://127.0.0.1:9"
	tests := []struct {
		name    string
		server  string // In the folder.
		mode    os.FileMode
		environ []string
		dev     bool   // Whether the folder is believed.
		url     string // Where requests go.
	}{
		{"DevPair", local, 0o700, nil, true, local},
		{"NamedKey", local, 0o700, []string{KeyVariable + "=tck_production"}, true, defaultServer},
		{"NamedServer", local, 0o700, []string{ServerVariable + "=http://127.0.0.1:1"}, true, "http://127.0.0.1:1"},
		{"WritableByOthers", local, 0o777, nil, false, defaultServer},
		{"OtherMachine", "http://192.0.2.1", 0o700, nil, false, defaultServer},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			dir := t.TempDir()
			folder := filepath.Join(dir, dataFolder)
			require.NoError(t, os.Mkdir(folder, 0o700))
			require.NoError(t, os.Chmod(folder, tt.mode))
			require.NoError(t, os.WriteFile(filepath.Join(folder, "server"), []byte(tt.server+"\n"), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(folder, "key"), []byte("tck_dev\n"), 0o600))
			a := &App{Env: Env{Dir: dir, Environ: tt.environ}}
			found, err := a.nearestSource()
			require.NoError(t, err)
			require.Equal(t, tt.dev, found.server.value != "")
			c, err := a.Connect()
			require.NoError(t, err)
			defer c.Close()
			require.Equal(t, tt.url, c.Server())
		})
	}
}

// A token of an issuer is used in the place of a key, and a key that is set too wins.
func TestTokenVariable(t *testing.T) {
	t.Parallel()

	for want, environ := range map[string][]string{
		"eyJ.a.b": {TokenVariable + "=eyJ.a.b"},
		"tck_key": {TokenVariable + "=eyJ.a.b", KeyVariable + "=tck_key"},
	} {
		c, err := (&App{Env: Env{Dir: t.TempDir(), Environ: environ}}).connection()
		require.NoError(t, err)
		require.Equal(t, want, c.key.value)
	}
}
