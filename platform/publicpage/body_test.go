package publicpage_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/publicpage"
)

// A body beyond its limit is refused, and read to its end, so that who sends it reads the answer.
func TestBodiesAreReadOn(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		size, left int
		large      bool
	}{
		"within":     {100, 0, false},
		"beyond":     {5000, 0, true},
		"far beyond": {20 << 20, 20<<20 - 16<<20 - 101, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			sent := strings.NewReader(strings.Repeat("x", test.size))
			r := httptest.NewRequest(http.MethodPost, "/", sent)
			raw, err := io.ReadAll(publicpage.Body(httptest.NewRecorder(), r, 100))
			_, large := errors.AsType[*http.MaxBytesError](err)
			require.Equal(t, test.large, large)
			require.Equal(t, test.large, err != nil)
			require.Len(t, raw, 100)
			require.InDelta(t, test.left, sent.Len(), 1)
		})
	}
}
