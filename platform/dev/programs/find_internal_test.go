package programs

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

// The path comes first, then the newest of the distribution, then what was
// downloaded; what is too old is left out.
func TestFind(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	onPath := install(t, filepath.Join(root, "path"), "16.2")
	install(t, filepath.Join(root, "lib", "9", "bin"), "9.6.24")
	fifteen := install(t, filepath.Join(root, "lib", "15", "bin"), "15.18")
	seventeen := install(t, filepath.Join(root, "lib", "17", "bin"), "17beta1")
	downloaded := install(t, filepath.Join(root, "cache", "18.1.0-linux-amd64", "bin"), "18.1")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "cache", "empty", "bin"), 0o750))

	found, err := Search{
		Path: filepath.Join(root, "nothing") + string(os.PathListSeparator) + onPath + string(os.PathListSeparator) +
			"relative",
		Folders: []string{filepath.Join(root, "lib", "*", "bin")}, Downloaded: filepath.Join(root, "cache"),
	}.Find(t.Context())
	require.NoError(t, err)
	require.Equal(t, []Installation{
		{Dir: onPath, Version: "16.2", Major: 16},
		{Dir: seventeen, Version: "17", Major: 17},
		{Dir: fifteen, Version: "15.18", Major: 15},
		{Dir: downloaded, Version: "18.1", Major: 18},
	}, found)
}

func TestMissingSaysWhatMendsIt(t *testing.T) {
	t.Parallel()
	old := install(t, filepath.Join(t.TempDir(), "old"), "9.6.24")
	for _, tt := range []struct{ release, install, start string }{
		{"ID=debian\n", "apt-get install -y postgresql", "service postgresql start"},
		{"ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "apt-get install -y postgresql", "service postgresql start"},
		{"ID=fedora\n", "dnf install -y postgresql-server", "systemctl start postgresql"},
		{"ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "dnf install -y postgresql-server", "systemctl start postgresql"},
		{"ID=alpine\n", "apk add postgresql", "rc-service postgresql start"},
		{"ID=arch\n", "pacman -S --noconfirm postgresql", "systemctl start postgresql"},
		{"ID=strange\n", "your system's package manager", "systemctl start postgresql"},
	} {
		t.Run(tt.release, func(t *testing.T) {
			t.Parallel()
			in := Search{Path: old, System: namesIn(tt.release)}
			_, err := in.Find(t.Context())
			var missing *MissingError
			require.ErrorAs(t, err, &missing)
			require.Equal(t, []string{old}, missing.TooOld)
			require.ErrorContains(t, err, tt.install)
			require.ErrorContains(t, err, "TOOLCRIB_DATABASE_URL")
			require.Contains(t, in.StartCommand(), tt.start)
		})
	}
	mac := Search{System: []string{"darwin"}}
	require.Equal(t, "brew install postgresql@17", mac.InstallCommand())
	require.Equal(t, "brew services start postgresql@17", mac.StartCommand())
}

func TestBuild(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		system, machine string
		musl            bool
		want            string
	}{
		{"linux", "amd64", false, "linux-amd64"},
		{"linux", "arm64", true, "linux-arm64v8-alpine"},
		{"darwin", "arm64", false, "darwin-arm64v8"},
	} {
		b, err := buildFor(tt.system, tt.machine, tt.musl)
		require.NoError(t, err)
		require.Equal(t, tt.want, b.String())
	}
	_, err := buildFor("plan9", "amd64", false)
	require.ErrorContains(t, err, "plan9/amd64")

	root := t.TempDir()
	require.False(t, usesMusl(root))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "lib"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(root, "lib", "ld-musl-x86_64.so.1"), nil, 0o600))
	require.True(t, usesMusl(root))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "lib64"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(root, "lib64", "ld-linux-x86-64.so.2"), nil, 0o600))
	require.False(t, usesMusl(root), "musl beside the usual library is an extra")
}
