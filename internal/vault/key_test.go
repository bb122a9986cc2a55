package vault_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/vault"
)

func TestParseKeys(t *testing.T) {
	t.Parallel()

	first, second := vault.GenerateKey(), vault.GenerateKey()
	require.NotEqual(t, first, second)
	keys, err := vault.ParseKeys("# of 2026\n" + first + "\n\n " + second + " \n")
	require.NoError(t, err)
	require.Len(t, keys.IDs(), 2)
	again, err := vault.ParseKeys(second + "," + first)
	require.NoError(t, err)
	require.ElementsMatch(t, keys.IDs(), again.IDs(), "a key has its id wherever it is kept")
	require.NotEqual(t, keys.IDs(), again.IDs(), "the first one wraps")

	short := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 16))
	for text, says := range map[string]string{
		"":                     "needs a key-encryption key",
		"# nothing":            "needs a key-encryption key",
		"not base64!":          "line 1 is not in base64",
		first + "\n" + short:   "line 2: a key-encryption key has 32 bytes, not 16",
		first + "\n" + first:   "listed twice",
		first + "\n\n\n#x\n%%": "line 5 is not in base64",
	} {
		_, err := vault.ParseKeys(text)
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), first)
		require.NotContains(t, err.Error(), short)
	}
}

func TestKeyFileIsItsOwnersAlone(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "kek")
	made, err := vault.EnsureKeyFile(path)
	require.NoError(t, err)
	again, err := vault.EnsureKeyFile(path)
	require.NoError(t, err)
	require.Equal(t, made.IDs(), again.IDs())
	require.ErrorIs(t, vault.WriteKeyFile(path), os.ErrExist)
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no draft is left behind")

	_, err = vault.ReadKeyFile(filepath.Join(filepath.Dir(path), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = vault.ReadKeyFile(filepath.Dir(path))
	require.Error(t, err)
	if runtime.GOOS == "windows" {
		return
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660, 0o644} {
		require.NoError(t, os.Chmod(path, mode))
		_, err = vault.ReadKeyFile(path)
		require.ErrorContains(t, err, "chmod 600")
	}
	require.NoError(t, os.Chmod(path, 0o400))
	_, err = vault.ReadKeyFile(path)
	require.NoError(t, err)
}

func TestFromEnvironment(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "kek")
	require.NoError(t, vault.WriteKeyFile(path))
	env := func(vars map[string]string) (*vault.Keyring, error) {
		return vault.FromEnvironment(func(name string) string { return vars[name] })
	}
	none, err := env(nil)
	require.NoError(t, err)
	require.Empty(t, none.IDs())
	file, err := env(map[string]string{vault.FileVariable: path})
	require.NoError(t, err)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	text, err := env(map[string]string{vault.KeyVariable: string(raw)})
	require.NoError(t, err)
	require.Equal(t, file.IDs(), text.IDs())
	_, err = env(map[string]string{vault.KeyVariable: string(raw), vault.FileVariable: path})
	require.ErrorContains(t, err, "keep one")
	_, err = env(map[string]string{vault.KeyVariable: "short"})
	require.ErrorContains(t, err, vault.KeyVariable)
}
