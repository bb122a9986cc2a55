package commands

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema/jsonvalue/jsonvaluetest"
	"github.com/toolcrib/toolcrib/tool"
)

// Arguments given on a command line obey the rule of all others, and leave in
// the form in which they were read.
func TestArgumentsObeyTheRule(t *testing.T) {
	t.Parallel()

	for _, c := range jsonvaluetest.Cases() {
		got, err := readArguments(strings.NewReader(""), c.Raw, "")
		if c.Canonical != "" {
			require.NoError(t, err, c.Name)
			require.Equal(t, c.Canonical, string(got), c.Name)
			continue
		}
		require.Equal(t, tool.Invalid, tool.KindOf(err), c.Name)
		require.ErrorContains(t, err, c.Msg, c.Name)
	}
}
