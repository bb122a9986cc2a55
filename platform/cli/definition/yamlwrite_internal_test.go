package definition

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is written is read back as the same JSON, whatever its texts hold.
func TestFormatIsReadBack(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"a", " ", "\n", "\t", ":", "#", "-", "'", `"`, `\`, "{", "}", "[", "]", ",", "&", "*", "!", "|", ">", "%", "@", "`",
		"~", "null", "true", "yes", "1", "0", ".", "e", "_", "0x", "é", "番", "\u2028", "\u0085", "\ufeff", "\x00", "\x1b",
		"\r", "<<", "=", "?", "---", "...", "2020-01-01", "0o7", "\u00a0", "+", "inf", "nan",
	}
	numbers := []json.Number{"1", "-0.5", "1e3", "12345678901234567890123", "1E+5", "0.10"}
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range r.IntN(5) + 1 {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	for range 2000 {
		want, err := json.Marshal(map[string]any{text(): text(), "list": []any{
			text(),
			map[string]any{text(): text(), "n": numbers[r.IntN(len(numbers))]},
			[]any{},
			[]any{text(), []any{text()}},
			map[string]any{},
			nil, true,
		}})
		require.NoError(t, err)
		written, err := Format(want)
		require.NoError(t, err)
		got, err := Parse("file", []byte(written))
		require.NoError(t, err, "%s", want)
		require.Len(t, got, 1)
		require.Equal(t, string(want), string(got[0].Raw), written)
	}
}
