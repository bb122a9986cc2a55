package definition

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli/terminal"
)

// The mark stands below the place, however the line is cut.
func TestSnippet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source string
		column int
	}{
		{"slug: X", 7},
		{"\tX", 2},
		{strings.Repeat("a", 500) + "X" + strings.Repeat("b", 500), 501},
		{"番号: X", 5},
		{"end", 9},
	} {
		var out bytes.Buffer
		e := FileError{Line: 7, Column: c.column, Source: c.source}
		require.NoError(t, e.Show(&out))
		lines := strings.Split(out.String(), "\n")
		require.Len(t, lines, 3)
		require.True(t, strings.HasPrefix(lines[0], "    7 | "), lines[0])
		at := terminal.Width(strings.TrimSuffix(lines[1], "^"))
		if i := strings.Index(lines[0], "X"); i >= 0 {
			require.Equal(t, terminal.Width(lines[0][:i]), at, out.String())
		}
		require.Less(t, terminal.Width(lines[0]), 130)
	}
}
