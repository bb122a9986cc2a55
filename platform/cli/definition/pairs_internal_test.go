package definition

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A value that is not UTF-8 is refused instead of replaced.
func TestPairsObeyTheRule(t *testing.T) {
	t.Parallel()

	_, err := Arguments([]string{"to=\xff"}, func(string) bool { return false })
	require.ErrorContains(t, err, "not valid UTF-8")
}
