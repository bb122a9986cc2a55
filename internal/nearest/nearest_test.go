package nearest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/nearest"
)

func TestName(t *testing.T) {
	t.Parallel()

	known := []string{"getOrder", "getOrders", "input_schema", "say"}
	for name, want := range map[string]string{
		"getOrdr": "getOrder", "getorders": "getOrders", "input_shcema": "input_schema", "sya": "", "sa": "say", "zzz": "",
		"": "",
	} {
		require.Equal(t, want, nearest.Name(name, known), name)
	}
	require.Empty(t, nearest.Name("say", nil))
}
