package devstack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// install puts programs into dir that call themselves PostgreSQL of a version.
func install(t *testing.T, dir, version string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o750))
	for _, program := range []string{"postgres", "initdb"} {
		script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + " (Debian)'\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, program), []byte(script), 0o700))
	}
	return dir
}

func TestFindPostgres(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	onPath := install(t, filepath.Join(root, "path"), "16.2")
	install(t, filepath.Join(root, "lib", "9", "bin"), "9.6.24")
	fifteen := install(t, filepath.Join(root, "lib", "15", "bin"), "15.18")
	seventeen := install(t, filepath.Join(root, "lib", "17", "bin"), "17beta1")
	both := installations{path: onPath, folders: []string{filepath.Join(root, "lib", "*", "bin")}}
	installed := installations{path: filepath.Join(root, "empty"), folders: both.folders}

	for _, tt := range []struct {
		name  string
		in    installations
		major int
		want  string
	}{
		{"the path comes first", both, 0, onPath},
		{"then the newest", installed, 0, seventeen},
		{"a cluster wants its own", both, 15, fifteen},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := tt.in.find(t.Context(), tt.major)
			require.NoError(t, err)
			require.Equal(t, tt.want, b.dir)
		})
	}

	t.Run("a cluster of none of them", func(t *testing.T) {
		t.Parallel()
		_, err := both.find(t.Context(), 14)
		var mismatch *VersionMismatchError
		require.ErrorAs(t, err, &mismatch)
	})
}

func TestMissingPostgresSaysWhatMendsIt(t *testing.T) {
	t.Parallel()
	old := install(t, filepath.Join(t.TempDir(), "old"), "9.6.24")
	for _, tt := range []struct{ release, want string }{
		{"ID=debian\n", "apt-get install -y postgresql"},
		{"ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "apt-get install -y postgresql"},
		{"ID=fedora\n", "dnf install -y postgresql-server"},
		{"ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "dnf install -y postgresql-server"},
		{"ID=alpine\n", "apk add postgresql"},
		{"ID=strange\n", "your system's package manager"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			in := installations{path: old, system: namesIn(tt.release)}
			_, err := in.find(t.Context(), 0)
			var missing *MissingPostgresError
			require.ErrorAs(t, err, &missing)
			require.Equal(t, []string{old}, missing.TooOld)
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, DatabaseURLVariable)
		})
	}
	require.Equal(t, "brew install postgresql@17", installCommand([]string{"darwin"}))
}
