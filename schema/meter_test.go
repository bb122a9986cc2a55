package schema_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// A large enum is compared with every item: what that costs is counted before
// it is begun, since the library cannot be interrupted.
func TestEnumCostsAreCounted(t *testing.T) {
	t.Parallel()

	members := make([]string, 8000)
	for i := range members {
		members[i] = strconv.Itoa(i)
	}
	raw := `{"type":"object","properties":{"a":{"type":"array","items":{"enum":[` + strings.Join(members, ",") + `]}}}}`
	s, err := schema.New(0).Compile(json.RawMessage(raw))
	require.NoError(t, err)
	require.NoError(t, s.Validate(json.RawMessage(`{"a":[1,2,3]}`)))

	many := `{"a":[` + strings.TrimSuffix(strings.Repeat("-1,", 100_000), ",") + `]}`
	err = s.Validate(json.RawMessage(many))
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.ErrorContains(t, err, "too large")
	_, _, err = s.Prepare(json.RawMessage(many))
	require.ErrorContains(t, err, "too large")
}
