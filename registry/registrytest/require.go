package registrytest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// RequireRefused requires that err is a [*tool.Error] of the given kind and
// path, whose message contains text.
func RequireRefused(t *testing.T, err error, kind tool.Kind, path, text string) {
	t.Helper()

	require.Error(t, err)
	e := tool.AsError(err)
	require.Equal(t, kind, e.Kind, "%v", err)
	require.Equal(t, path, e.Path, "%v", err)
	require.Contains(t, e.Msg, text)
}
