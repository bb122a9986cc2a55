package calendar_test

import (
	"archive/zip"
	"flag"
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins/internal/calendar"
)

var update = flag.Bool("update", false, "rewrite zones.txt from Go's own tz database")

const zoneFile = "zones.txt"

// The list of zones is that of the Go this is built with, but for the one that
// stands for a machine nobody set up.
func TestZoneList(t *testing.T) {
	t.Parallel()

	archive, err := zip.OpenReader(filepath.Join(build.Default.GOROOT, "lib", "time", "zoneinfo.zip"))
	require.NoError(
		t, err, "Go comes with a tz database; a distribution's that left it out cannot tell whether the list is whole",
	)
	t.Cleanup(func() { _ = archive.Close() })
	var want strings.Builder
	for _, f := range archive.File {
		if f.FileInfo().IsDir() || f.Name == "Factory" {
			continue
		}
		want.WriteString(f.Name + "\n")
	}
	if *update {
		require.NoError(t, os.WriteFile(zoneFile, []byte(want.String()), 0o600))
	}
	got, err := os.ReadFile(zoneFile)
	require.NoError(t, err)
	require.Equal(t, want.String(), string(got), "run this test with -update")
}

func TestEveryZoneIsThere(t *testing.T) {
	t.Parallel()

	list, err := os.ReadFile(zoneFile)
	require.NoError(t, err)
	names := strings.Fields(string(list))
	require.Greater(t, len(names), 500)
	for _, name := range names {
		loc, err := calendar.Zone(name)
		require.NoError(t, err, name)
		if strings.Contains(name, "/") {
			require.Equal(t, name, loc.String())
		}
	}
}

func TestZone(t *testing.T) {
	t.Parallel()

	for name, seconds := range map[string]int{
		"": 0, "UTC": 0, "utc": 0, "z": 0, "Gmt": 0, "Etc/UTC": 0,
		"+02:00": 7200, "-0530": -19800, "+2": 7200, "UTC+5": 18000, "gmt-3": -10800, "+18:00": 64800, "-18": -64800,
		"Etc/GMT+5":    -18000, // The sign of POSIX: hours west.
		"EST":          -18000,
		"Africa/Lagos": 3600, "America/Argentina/Buenos_Aires": -10800, "US/Arizona": -25200,
	} {
		loc, err := calendar.Zone(name)
		require.NoError(t, err, name)
		require.Equal(t, time.Duration(seconds)*time.Second, offset(time.Unix(0, 0).In(loc)), name)
	}
}

// A name is one of the tz database as it is spelled there, and no path.
func TestZoneRefuses(t *testing.T) {
	t.Parallel()

	for _, name := range []string{
		"Local", "local", "LOCAL", "localtime", "posixrules", "Factory", "zone.tab", "tzdata.zi", "leapseconds", "zones.txt",
		"../../etc/passwd", "Europe/../Europe/Zurich", "./Europe/Zurich", "/etc/localtime",
		"/usr/share/zoneinfo/Europe/Zurich",
		"Europe//Zurich", "Europe/Zurich/", "Europe", "Europe/", `Europe\Zurich`, "posix/Europe/Zurich",
		"right/Europe/Zurich", "..", ".", "/",
		"Europe/Zurich\x00", "Europe/Zurich\n", " Europe/Zurich", "Europe/Zürich", "%2e%2e/UTC", "file:///etc/localtime",
		"Mars/Olympus",
		"PST", "IST", "CEST", "PST8PDT,M3.2.0,M11.1.0", "UTC+5,M3.2.0",
		"+19:00", "+18:01", "-18:30", "+2:60", "+", "UTC+", "+123", "+1:2:3", "２", "+٢", strings.Repeat("Z", 1<<20),
		strings.Repeat("../", 1<<10),
	} {
		_, err := calendar.Zone(name)
		require.ErrorContains(t, err, "unknown time zone", "%.64q", name)
		require.Less(t, len(err.Error()), 500)
	}
	for name, known := range map[string]string{
		"europe/zurich": "Europe/Zurich", "AMERICA/NEW_YORK": "America/New_York", "est5edt": "EST5EDT",
	} {
		_, err := calendar.Zone(name)
		require.ErrorContains(t, err, "it is spelled "+known)
	}
}
