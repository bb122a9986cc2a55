package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A table never needs more columns than the screen has, and is whole elsewhere.
func TestTableFits(t *testing.T) {
	t.Parallel()
	rows := func() [][]string {
		return [][]string{
			{
				"getOrder", "1.0.0", "published",
				"Finds an order by its number, in whatever shop it was made, and tells how it stands.",
			},
			{"注文を探す", "10.12.0-rc.1", "draft", "番号で注文を見つけます。番号で注文を見つけます。番号で注文を見つけます。"},
			{"e\u0301te\u0301", "1.0.0", "published", "line\nbreak\x1b[31m and control"},
		}
	}
	const header = "TOOL VERSION STATUS DESCRIPTION~"
	for _, columns := range []int{20, 24, 40, 60, 80, 120, 500} {
		var out bytes.Buffer
		require.NoError(t, Table(&screen{Writer: &out, columns: columns}, header, rows()))
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		require.Len(t, lines, 4)
		for _, line := range lines {
			require.LessOrEqual(t, Width(line), columns, "%q at %d", line, columns)
			require.NotContains(t, line, "\x1b")
		}
		if columns == 80 { // What gives way is the description alone.
			require.Contains(t, lines[1], "getOrder    1.0.0         published  Finds an order by its number")
			require.True(t, strings.HasSuffix(lines[1], "…"), lines[1])
			require.Contains(t, lines[2], "注文を探す  10.12.0-rc.1  draft      番号で")
		}
	}
	var whole bytes.Buffer
	require.NoError(t, Table(&whole, header, rows()))
	require.Contains(t, whole.String(), "and tells how it stands.\n")
	require.NotContains(t, whole.String(), "…")
}

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 12, 12, 0, 0, 0, time.UTC)
	for want, past := range map[string]time.Duration{
		"now": 2 * time.Second, "59s ago": 59 * time.Second, "1m ago": 119 * time.Second,
		"23h ago": 24*time.Hour - time.Second,
		"29d ago": 30*24*time.Hour - time.Second, "2026-01-0": 65 * 24 * time.Hour, "in 5m": -5 * time.Minute,
	} {
		require.Contains(t, ago(now.Add(-past), now), want)
	}
	require.Empty(t, ago(time.Time{}, now))
}
