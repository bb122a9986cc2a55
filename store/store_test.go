package store_test

import (
	"testing"

	"github.com/toolcrib/toolcrib/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()

	storetest.Run(t, func(tb testing.TB) *storetest.Database { tb.Helper(); return storetest.NewDatabase(tb) })
}
