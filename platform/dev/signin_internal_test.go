package dev

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACodeSignsInOnce(t *testing.T) {
	t.Parallel()

	o := newOneTime("key")
	_, ok := o.redeem("another")
	require.False(t, ok)
	key, ok := o.redeem(o.code)
	require.True(t, ok)
	require.Equal(t, "key", key)
	_, ok = o.redeem(o.code)
	require.False(t, ok)
	require.NotEqual(t, o.code, newOneTime("key").code)
}
