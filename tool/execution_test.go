package tool_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

func TestInteractionDefaults(t *testing.T) {
	t.Parallel()

	var i tool.Interaction
	require.Equal(t, tool.Compute, i.Purpose())
	require.True(t, i.ForModels())
	i.Intent, i.Audience = tool.Render, tool.AudienceUser
	require.Equal(t, tool.Render, i.Purpose())
	require.False(t, i.ForModels())
	for _, valid := range []bool{
		tool.Intent("").Valid(), tool.Act.Valid(), tool.Audience("").Valid(), tool.AudienceUser.Valid(),
	} {
		require.True(t, valid)
	}
	require.False(t, tool.Intent("ponder").Valid())
	require.False(t, tool.Audience("all").Valid())

	i.Rename("mountDir", time.Date(2027, 1, 31, 23, 30, 0, 0, time.FixedZone("west", -3600)))
	raw, err := json.Marshal(i)
	require.NoError(t, err)
	require.JSONEq(t, `{"intent": "render", "audience": "user", "former_names": {"mountDir": "2027-02-01"}}`, string(raw))
}

func TestClientTool(t *testing.T) {
	t.Parallel()

	form := tool.ClientTool{
		Name: "userForm", Description: "Asks the user.", InputSchema: json.RawMessage(`{"type":"object"}`),
		Intent: tool.Render, RequiresResponse: true, Timeout: 1500 * time.Millisecond,
	}.Definition()
	require.Equal(t, tool.Client, form.Implementation)
	require.Equal(t, 1500*time.Millisecond, form.Execution.Timeout())
	require.True(t, form.Interaction.RequiresResponse)
	require.True(t, form.Shown())
	require.Equal(
		t, tool.DefaultTimeout, func() time.Duration { d := tool.ClientTool{}.Definition(); return d.Execution.Timeout() }(),
	)
}

// What a definition leaves open: the numbers are the product's, and known to
// callers.
func TestExecutionDefaults(t *testing.T) {
	t.Parallel()

	var x tool.Execution
	require.EqualValues(t, 30_000, x.Timeout().Milliseconds())
	require.EqualValues(t, 30_000, tool.Execution{TimeoutSeconds: -1}.Timeout().Milliseconds())
	require.Equal(t, 5*time.Second, tool.Execution{TimeoutSeconds: 5}.Timeout())
	for ms := range 5000 {
		x := tool.Execution{TimeoutSeconds: float64(ms+1) / 1000}
		require.EqualValues(t, ms+1, x.Timeout().Milliseconds())
	}
	require.Equal(t, "default", x.Group())
	require.Equal(t, 1, x.Limit())
	require.Equal(t, 3, x.Attempts())
}
