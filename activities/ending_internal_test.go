package activities

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// A call that was refused for doing more than its tool declares ends at once,
// and its settlement tells.
func TestDriftIsSettled(t *testing.T) {
	t.Parallel()

	refused := &tool.Error{
		Kind: tool.Denied, Msg: "the tool's egress class is read_only",
		Err: &tool.DriftError{Declared: tool.EgressReadOnly, Attempted: "POST"},
	}
	e := tool.AsError(classify(fmt.Errorf("calling: %w", refused)))
	require.False(t, e.MayRetry(tool.Execution{Pure: true}))
	require.Equal(t, ledger.Settlement{
		Status: tool.StatusFailed, Kind: tool.Denied, Msg: refused.Msg,
		Drift: &ledger.Drift{Declared: tool.EgressReadOnly, Attempted: "POST"},
	}, ending(e, tool.Execution{}))
	require.Nil(t, ending(&tool.Error{Kind: tool.Denied, Msg: "no"}, tool.Execution{}).Drift)
}
