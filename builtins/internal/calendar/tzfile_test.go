package calendar_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"go/build"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestClockChangesAreTheFiles holds the clock changes that [TestClockChanges]
// goes around to those that stand in the tz database's files, read here anew:
// none is missed, and none is made up.
func TestClockChangesAreTheFiles(t *testing.T) {
	t.Parallel()

	archive, err := zip.OpenReader(filepath.Join(build.Default.GOROOT, "lib", "time", "zoneinfo.zip"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = archive.Close() })
	for _, name := range zones {
		file, err := archive.Open(name)
		require.NoError(t, err)
		data, err := io.ReadAll(file)
		require.NoError(t, err)
		loc, err := time.LoadLocationFromTZData(name, data)
		require.NoError(t, err)
		require.Equal(t, changesInFile(t, data), changesOf(loc), name)
	}
}

// header is that of each of a file's two blocks, of RFC 9636.
type header struct {
	Magic                                        [4]byte
	Version                                      byte
	_                                            [15]byte
	UT, Standard, Leaps, Times, Types, NameBytes uint32
}

// changesInFile reads the instants from 1970 to 2037 at which a zone's offset
// changes: those of the file's table, and after its last those of the rule in
// its footer.
func changesInFile(t *testing.T, data []byte) []time.Time {
	t.Helper()
	r := bytes.NewReader(data)
	var h header
	read := func(into any) { require.NoError(t, binary.Read(r, binary.BigEndian, into)) }
	skip := func(n uint32) {
		_, err := r.Seek(int64(n), io.SeekCurrent)
		require.NoError(t, err)
	}
	read(&h)
	skip(h.Times*5 + h.Types*6 + h.NameBytes + h.Leaps*8 + h.Standard + h.UT) // The first block, of 32 bits.
	read(&h)
	at, kinds := make([]int64, h.Times), make([]byte, h.Times)
	types := make([]struct {
		Offset      int32
		DST, NameAt byte
	}, h.Types)
	read(at)
	read(kinds)
	read(types)
	skip(h.NameBytes + h.Leaps*12 + h.Standard + h.UT)
	footer, err := io.ReadAll(r)
	require.NoError(t, err)

	var found []time.Time
	var last time.Time
	was := types[0].Offset
	for i, seconds := range at {
		last = time.Unix(seconds, 0).UTC()
		if now := types[kinds[i]].Offset; now != was {
			found, was = append(found, last), now
		}
	}
	for _, change := range changesByRule(t, strings.TrimSpace(string(footer))) {
		if change.After(last) {
			found = append(found, change)
		}
	}
	var kept []time.Time
	for _, change := range found {
		if change.Year() >= 1970 && change.Year() <= 2037 {
			kept = append(kept, change)
		}
	}
	return kept
}

// rule is POSIX's of two changes a year, such as CET-1CEST,M3.5.0,M10.5.0/3.
var (
	rule = regexp.MustCompile(`^` + zoneName + clock + zoneName + `(?:` + clock + `)?,` + day + `,` + day + `$`)
	hms  = regexp.MustCompile(`^([+-]?)(\d+)(?::(\d+))?(?::(\d+))?$`)
)

const (
	zoneName = `(?:<[^>]+>|[A-Za-z]+)`
	clock    = `([+-]?[\d:]+)`
	day      = `M(\d+)\.(\d)\.(\d)(?:/([+-]?[\d:]+))?`
)

// changesByRule returns the changes of every year that a rule may speak of.
func changesByRule(t *testing.T, text string) []time.Time {
	t.Helper()
	if !strings.Contains(text, ",") {
		return nil // The same time all year.
	}
	m := rule.FindStringSubmatch(text)
	require.NotNil(t, m, "a rule of another kind: %s", text)
	standard := seconds(t, m[1])
	summer := standard - 3600 // POSIX counts westward.
	if m[2] != "" {
		summer = seconds(t, m[2])
	}
	var found []time.Time
	for year := 1970; year <= 2037; year++ {
		// Each change is told in the time that is shown before it.
		found = append(found, nthDay(t, year, m[3:7]).Add(time.Duration(standard)*time.Second))
		found = append(found, nthDay(t, year, m[7:11]).Add(time.Duration(summer)*time.Second))
	}
	slices.SortFunc(found, time.Time.Compare)
	return found
}

// nthDay returns the time, as clocks show it, that month, week, weekday and
// time of day name. Week 5 is the last.
func nthDay(t *testing.T, year int, parts []string) time.Time {
	t.Helper()
	var n [3]int
	for i := range n {
		var err error
		n[i], err = strconv.Atoi(parts[i])
		require.NoError(t, err)
	}
	day := time.Date(year, time.Month(n[0]), 1, 0, 0, 0, 0, time.UTC)
	day = day.AddDate(0, 0, (n[2]-int(day.Weekday())+7)%7+7*(n[1]-1))
	for day.Month() != time.Month(n[0]) {
		day = day.AddDate(0, 0, -7)
	}
	at := 2 * 3600
	if parts[3] != "" {
		at = seconds(t, parts[3])
	}
	return day.Add(time.Duration(at) * time.Second)
}

// seconds reads 1, -10:30 or +26.
func seconds(t *testing.T, text string) int {
	t.Helper()
	m := hms.FindStringSubmatch(text)
	require.NotNil(t, m, text)
	sum := 0
	for i, unit := range []int{3600, 60, 1} {
		n, _ := strconv.Atoi("0" + m[i+2]) // Digits, or none.
		sum += n * unit
	}
	if m[1] == "-" {
		return -sum
	}
	return sum
}
