package activities

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// A call begins only while its lease lasts for as long as the call may take.
func TestKeepsSlot(t *testing.T) {
	t.Parallel()

	require.NoError(t, (&attempt{}).keepsSlot(), "a call without a limit has no lease")
	require.NoError(t, (&attempt{leased: time.Now()}).keepsSlot())
	err := (&attempt{leased: time.Now().Add(-slotMargin)}).keepsSlot()
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	require.True(t, tool.AsError(err).MayRetry(tool.Execution{}), "nothing was sent")
}
