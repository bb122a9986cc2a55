package storetest_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store/storetest"
)

// ending records how a test would have ended.
type ending struct {
	testing.TB
	how string
}

func (e *ending) Helper() {}

func (e *ending) Fatal(...any) { e.how = "failed"; runtime.Goexit() }

func (e *ending) Skip(...any) { e.how = "skipped"; runtime.Goexit() }

// Without PostgreSQL a bare go test skips; where tests must count, it fails.
func TestNoDatabase(t *testing.T) {
	without := func() string {
		e := &ending{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			storetest.New(e)
		}()
		<-done
		return e.how
	}
	for _, name := range []string{storetest.URLVariable, storetest.CIVariable, storetest.RequireVariable} {
		t.Setenv(name, "") // Restores it.
		require.NoError(t, os.Unsetenv(name))
	}
	require.Equal(t, "skipped", without())
	t.Setenv(storetest.RequireVariable, "1")
	require.Equal(t, "failed", without())
	require.NoError(t, os.Unsetenv(storetest.RequireVariable))
	t.Setenv(storetest.CIVariable, "true")
	require.Equal(t, "failed", without())
}
