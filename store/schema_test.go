package store_test

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store/internal/schemadump"
	"github.com/toolcrib/toolcrib/store/storetest"
)

var update = flag.Bool("update", false, "rewrite schema.sql")

// schema.sql is what the migrations make of an empty database, for reviewers
// to read beside them.
func TestSchemaDump(t *testing.T) {
	t.Parallel()

	dump, err := schemadump.Dump(t.Context(), storetest.NewDatabase(t).Conn(t))
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile("schema.sql", []byte(dump), 0o644))
	}
	want, err := os.ReadFile("schema.sql")
	require.NoError(t, err)
	require.Equal(t, string(want), dump, "schema.sql is stale: go test ./store -run TestSchemaDump -update")
}

func dump(t *testing.T, address string) string {
	t.Helper()
	text, err := schemadump.Dump(t.Context(), storetest.Connect(t, address))
	require.NoError(t, err)
	return text
}
