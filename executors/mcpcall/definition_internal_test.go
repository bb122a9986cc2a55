package mcpcall

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// However long a run goes on, what its server said of its tools is asked for
// again in time.
func TestDefinitionsAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var kept definitions
		key := SessionKey{Tenant: "a", RunID: "run", Server: "s"}
		kept.put(key, map[string]definition{"order": {digest: "x"}})
		time.Sleep(maxDefinitionAge)
		require.NotNil(t, kept.get(key))
		time.Sleep(time.Millisecond)
		require.Nil(t, kept.get(key))
	})
}
