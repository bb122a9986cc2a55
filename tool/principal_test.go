package tool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

func TestNarrow(t *testing.T) {
	t.Parallel()
	narrow := tool.Principal.Narrow
	p := narrow(tool.Principal{Permissions: []string{"a", "b"}, Scopes: []string{"b", "c"}})
	require.Equal(t, []string{"b"}, p.Permissions)
	require.Equal(t, []string{"a"}, narrow(tool.Principal{Permissions: []string{"a"}, Scopes: []string{"*"}}).Permissions)
	require.False(t, narrow(tool.Principal{Permissions: []string{"*"}, Scopes: []string{"b"}}).May("a"))
}
