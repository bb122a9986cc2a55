package store_test

import (
	"testing"

	"github.com/toolcrib/toolcrib/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()

	storetest.Run(t, func(t testing.TB) *storetest.Database { t.Helper(); return storetest.NewDatabase(t) })
}
