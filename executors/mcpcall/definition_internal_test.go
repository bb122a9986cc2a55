package mcpcall

import (
	"strconv"
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

// However much servers say of their tools, and in however many runs, little of
// it is kept.
func TestDefinitionsAreBounded(t *testing.T) {
	t.Parallel()
	var kept definitions
	large := map[string]definition{"order": {headers: make([]byte, maxListBytes)}}
	most := maxDefinitionBytes / maxListBytes
	for run := range 4 * most {
		key := SessionKey{RunID: strconv.Itoa(run)}
		kept.put(key, large)
		kept.put(key, large)
		require.LessOrEqual(t, len(kept.kept), most)
		require.NotNil(t, kept.get(key))
	}
	for key := range kept.kept {
		kept.forget(key)
		kept.forget(key)
	}
	require.Zero(t, kept.bytes)
	for run := range 2 * maxDefinitions {
		kept.put(SessionKey{RunID: strconv.Itoa(run)}, nil)
	}
	require.LessOrEqual(t, len(kept.kept), maxDefinitions)
}
