package embedded

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPostgresAccountOwnsNothingButTheData(t *testing.T) {
	t.Parallel()
	as := lentAccount(t)
	dir := filepath.Join(passage(t), "postgres")
	p, err := StartPostgres(t.Context(), PostgresConfig{Dir: dir, Port: AnyPort})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop(context.WithoutCancel(t.Context()))) })

	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	owners := map[string]int{".": ownerOf(t, dir)}
	for _, entry := range entries {
		owners[entry.Name()] = ownerOf(t, filepath.Join(dir, entry.Name()))
	}
	require.Equal(t, map[string]int{".": 0, dataFolder: as.uid, passwordFile: 0, logFile: 0, lockFile: 0}, owners)

	require.NoError(t, runAs(t, as, `touch "$1"`, filepath.Join(dir, dataFolder, "anything")))
	for _, file := range []string{passwordFile, logFile, lockFile} {
		for does, script := range map[string]string{
			"replaces": `ln -sfn / "$1"`,
			"removes":  `rm -f "$1"`,
			"reads":    `cat "$1"`,
			"writes":   `echo anything >> "$1"`,
		} {
			require.Error(t, runAs(t, as, script, filepath.Join(dir, file)), "the account %s %s", does, file)
		}
	}
}

// The folder is the account's here, as an earlier build made it: then links can
// be planted at every name that root opens.
func TestPostgresStartLeavesWhatPlantedLinksLeadToUntouched(t *testing.T) {
	t.Parallel()
	as := lentAccount(t)
	for name, tt := range map[string]struct {
		folder bool // Whether the link leads to a folder.
		starts bool // Whether what is new takes the link's place.
	}{
		passwordFile:     {starts: true},
		lentPasswordFile: {starts: true},
		logFile:          {starts: true},
		partialFolder:    {starts: true, folder: true},
		dataFolder:       {folder: true},
		lockFile:         {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hidden := newSecret(t)
			target := hidden.file
			if tt.folder {
				target = hidden.dir
			}
			dir := filepath.Join(passage(t), "postgres")
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, os.Chown(dir, as.uid, as.gid))
			require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))

			err := startAndStop(t, dir)
			require.Equal(t, tt.starts, err == nil, "%v", err)
			hidden.requireUntouched(t)
		})
	}
}

// The cluster's own folder is the account's in any case.
func TestPostgresRestartLeavesWhatPlantedLinksLeadToUntouched(t *testing.T) {
	t.Parallel()
	lentAccount(t)
	for _, name := range []string{versionFile, markFile, passwordFile} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			hidden := newSecret(t)
			dir := filepath.Join(passage(t), "postgres")
			require.NoError(t, startAndStop(t, dir))
			require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
			require.NoError(t, os.Symlink(hidden.file, filepath.Join(dir, name)))

			err := startAndStop(t, dir)
			require.Error(t, err)
			require.NotContains(t, err.Error(), "$6$secret")
			hidden.requireUntouched(t)
		})
	}
}

func TestLockLeavesAFileOfTwoNamesUntouched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "kept")
	require.NoError(t, os.WriteFile(file, []byte(secretText), 0o600))
	require.NoError(t, os.Link(file, filepath.Join(dir, lockFile)))

	_, err := lockFolder(dir)
	require.ErrorContains(t, err, "not a file of this folder alone")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, secretText, string(raw))
}

// secret is a file of root's in a folder of root's. Code that runs as the
// account would like to have it read or overwritten.
type secret struct {
	dir, file string
}

const secretText = "root:$6$secret\n"

func newSecret(t *testing.T) secret {
	t.Helper()
	dir := filepath.Join(passage(t), "secret")
	require.NoError(t, os.Mkdir(dir, 0o700))
	s := secret{dir: dir, file: filepath.Join(dir, "shadow")}
	require.NoError(t, os.WriteFile(s.file, []byte(secretText), 0o600))
	return s
}

func (s secret) requireUntouched(t *testing.T) {
	t.Helper()
	raw, err := os.ReadFile(s.file)
	require.NoError(t, err)
	require.Equal(t, secretText, string(raw))
	entries, err := os.ReadDir(s.dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	for path, mode := range map[string]os.FileMode{s.dir: 0o700, s.file: 0o600} {
		info, err := os.Lstat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
		require.Zero(t, ownerOf(t, path), path)
	}
}

// lentAccount returns the account that runs PostgreSQL for root.
func lentAccount(t *testing.T) *account {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root runs PostgreSQL as somebody else")
	}
	as, err := unprivilegedAccount()
	require.NoError(t, err)
	return as
}

// passage returns a folder of ours that everybody may pass through.
func passage(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "embedded-") //nolint:usetesting // The account cannot reach t.TempDir.
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

func ownerOf(t *testing.T, path string) int {
	t.Helper()
	var stat syscall.Stat_t
	require.NoError(t, syscall.Lstat(path, &stat))
	return int(stat.Uid)
}

// runAs runs a shell's script as the account, with path as its argument.
func runAs(t *testing.T, as *account, script, path string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", path)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as.credential()}
	return cmd.Run()
}

func startAndStop(t *testing.T, dir string) error {
	t.Helper()
	p, err := StartPostgres(t.Context(), PostgresConfig{Dir: dir, Port: AnyPort})
	if err != nil {
		return err
	}
	return p.Stop(t.Context())
}
