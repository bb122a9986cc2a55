package wait_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/wait"
)

func TestBatch(t *testing.T) {
	t.Parallel()

	batch := (&wait.Approval{RunID: "01975c2e-7d1a-7c3e-9f00-0000000000c1", Turn: 12}).Batch()
	require.Equal(t, "01975c2e-7d1a-7c3e-9f00-0000000000c1.12", batch.String())
	read, err := wait.ParseBatch(batch.String())
	require.NoError(t, err)
	require.Equal(t, batch, read)
	for _, name := range []string{"", ".", ".1", "run", "run.", "run.x", "run.-1", "run.1.2", "run.99999999999"} {
		_, err := wait.ParseBatch(name)
		require.ErrorContains(t, err, "is no batch", name)
	}
}
