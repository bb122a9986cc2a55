package store_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
)

func TestStorable(t *testing.T) {
	t.Parallel()

	tests := []struct{ name, in, want string }{
		{"KeepsBytes", ` {"b":9007199254740993, "a":1.0,"A":"\u00e9\n"}`, ` {"b":9007199254740993, "a":1.0,"A":"\u00e9\n"}`},
		{"KeepsPairs", `"\ud83d\ude00 \uD83D\uDE00"`, `"\ud83d\ude00 \uD83D\uDE00"`},
		{"KeepsEscapedBackslashes", `"\\u0000 \\\\ud800"`, `"\\u0000 \\\\ud800"`},
		{"ReplacesNUL", `{"\u0000":"a\u0000b"}`, `{"\ufffd":"a\ufffdb"}`},
		{"ReplacesNULBehindABackslash", `"\\\u0000"`, `"\\\ufffd"`},
		{"ReplacesHighAlone", `"\ud83d"`, `"\ufffd"`},
		{"ReplacesLowAlone", `"\ude00x"`, `"\ufffdx"`},
		{"ReplacesHighBeforeHigh", `"\ud83d\ud83d\ude00"`, `"\ufffd\ud83d\ude00"`},
		{"ReplacesHighBeforeOther", `"\ud83d\u0041"`, `"\ufffd\u0041"`},
		{"ReplacesBrokenUTF8", "\"a\xffb\"", "\"a\ufffdb\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, string(store.Storable([]byte(tt.in))))
		})
	}
	require.Equal(t, "a\ufffdb\ufffd", store.Text("a\x00b\xff"))
}

// Whatever a model writes, PostgreSQL takes it, can read every string in it,
// and gives the bytes back; and what needed no change has none.
func TestPayloadsSurvive(t *testing.T) {
	t.Parallel()

	conn := storetest.NewDatabase(t).Conn(t)
	piece := rapid.SampledFrom([]string{
		`\u0000`, `\ud800`, `\udfff`, `\ud83d\ude00`, `\\`, `\"`, `\n`, `\u00e9`, "a", "é", "\xff", `\\u0000`, "😀",
	})
	rapid.Check(t, func(r *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(r, "pieces"), "")
		raw := []byte(`{"k":["` + s + `",9007199254740993]}`)
		require.True(r, json.Valid(raw))
		stored := store.Storable(raw)
		require.Equal(r, stored, store.Storable(stored), "once is enough")
		var back []byte
		var read string
		err := conn.QueryRow(t.Context(), "select $1::json, ($1::json -> 'k' ->> 0) || ''", stored).Scan(&back, &read)
		require.NoError(r, err)
		require.Equal(r, stored, back)
		var decoded struct {
			K []any `json:"k"`
		}
		require.NoError(r, json.Unmarshal(stored, &decoded))
		require.Equal(r, decoded.K[0], read)
		require.True(r, utf8.ValidString(read))
	})
}
