package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// A login for the app opens a store as it is, and asking for it again gives it
// a password that works.
func TestCreateAppLogin(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	name := fmt.Sprintf("app_login_%d", time.Now().UnixNano())
	conn := d.Conn(t)
	t.Cleanup(func() { _, _ = conn.Exec(context.Background(), "drop role if exists "+name) })
	for range 2 {
		url, err := store.CreateAppLogin(t.Context(), d.URL, name)
		require.NoError(t, err)
		s, err := store.Open(t.Context(), url, store.Options{})
		require.NoError(t, err)
		s.Close()
	}
	for _, bad := range []string{"", "Robert'; drop table", "postgres; --"} {
		_, err := store.CreateAppLogin(t.Context(), d.URL, bad)
		require.Equal(t, tool.Invalid, tool.KindOf(err))
	}
}
