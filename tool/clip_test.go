package tool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

func TestClip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abc", 2, "ab…"},
		{"abc", 0, "…"},
		{"größe", 3, "gr…"},
		{"größe", 4, "grö…"},
		{"東京", 2, "…"},
	} {
		require.Equal(t, c.want, tool.Clip(c.text, c.n), "%q, %d", c.text, c.n)
	}
}
