package jsonvalue_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
	"github.com/toolcrib/toolcrib/tool"
)

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name, raw, path, msg string
		syntax               bool
	}{
		{"a duplicate member", `{"to":"a","to":"b"}`, "/to", "duplicate member, at byte 2 and again at byte 11", false},
		{"an escaped duplicate", `{"to":1,"\u0074o":2}`, "/to", "at byte 2 and again at byte 9", false},
		{"a nested duplicate", `{"a":[0,{"b/c":1,"x":0,"b/c":1}]}`, "/a/1/b~1c", "at byte 10 and again at byte 24", false},
		{"NUL", `{"a":"x\u0000"}`, "/a", "NUL", false},
		{"NUL in a name", `{"\u0000":1}`, "/", "NUL", false},
		{"a high surrogate", `["\ud800"]`, "/0", "surrogate", false},
		{"a low surrogate", `["\udc00x"]`, "/0", "surrogate", false},
		{"two high surrogates", `["\ud800\ud800"]`, "/0", "surrogate", false},
		{"a number too large", `{"a":1e400}`, "/a", "out of range", false},
		{"a number too small", `{"a":-1e-400}`, "/a", "out of range", false},
		{"a long integer too large", `[1` + strings.Repeat("0", 400) + `]`, "/0", "out of range", false},
		{"too many digits", `[0.` + strings.Repeat("1", 1000) + `]`, "/0", "too many digits", false},
		{"too deep", strings.Repeat("[", 300) + strings.Repeat("]", 300), strings.Repeat("/0", 256), "too deeply", false},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "", "valid UTF-8 at byte 6", true},
		{"an encoded surrogate", "[\"\xed\xa0\x80\"]", "", "valid UTF-8", true},
		{"raw NUL", "[\"\x00\"]", "", "syntax error at byte 3", true},
		{"a raw line break", "[\"\n\"]", "", "syntax error at byte 3", true},
		{"nothing", ``, "", "ends early", true},
		{"cut off", `{"a":[1`, "", "ends early", true},
		{"a cut word", `{"a":tru`, "", "ends early", true},
		{"two values", `{}{}`, "", "more text", true},
		{"a trailing comma", `[1,]`, "", "syntax error at byte 4", true},
		{"a bad escape", `["\x41"]`, "", "syntax error", true},
		{"a short escape", `["\u00"]`, "", "syntax error", true},
		{"a sign", `[+1]`, "", "syntax error", true},
		{"a zero first", `[01]`, "", "syntax error", true},
		{"no digits", `[1.]`, "", "syntax error", true},
	} {
		_, err := jsonvalue.Decode([]byte(tt.raw), 0)
		e, ok := errors.AsType[*jsonvalue.Error](err)
		require.True(t, ok, tt.name)
		require.Equal(t, tt.path, e.Path, tt.name)
		require.Contains(t, e.Msg, tt.msg, tt.name)
		require.Equal(t, tt.syntax, e.Syntax, tt.name)
		_, checked := jsonvalue.Check([]byte(tt.raw), 0)
		require.Equal(t, err, checked, tt.name)
	}
}

// FuzzDecode holds the decoder to encoding/json: it takes nothing that the
// standard library refuses, and where both take a text they read the same.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"b":[1,2.50,-0,1E5],"a":{"x":null,"y":[true,false]},"é":"\u00e9\n\/\ud83d\ude00<&>\u2028"}`, ` [ ] `,
		`"\b\f\t\r\u001f\u007f"`, `{"a":{}}`, `1e308`, `0e999`,
		`{"a":1,"a":2}`, `["\ud800"]`, `{"":""}`, `-`, `[1,]`, "\"\u2028\"", `{"a" : 1}`, `{"b":1,"a":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := jsonvalue.Decode(raw, 0)
		canonical, checked := jsonvalue.Check(raw, 0)
		require.Equal(t, err, checked)
		if err != nil {
			e, _ := errors.AsType[*jsonvalue.Error](err)
			require.Equal(t, !json.Valid(raw) || !bytes.Equal(raw, bytes.ToValidUTF8(raw, nil)), e.Syntax && e.Path == "", "%v",
				err)
			return
		}
		want, err := tool.Canonical(raw)
		require.NoError(t, err)
		require.Equal(t, string(want), string(v.Append(nil)))
		require.Equal(t, string(want) == string(raw), canonical, "%s", raw)
		again, err := json.Marshal(v.Any())
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(again))
	})
}

func TestDecimalOf(t *testing.T) {
	t.Parallel()

	for _, same := range [][]string{
		{"1", "1.0", "10e-1", "0.1e1", "1E0"},
		{"0", "-0", "0.00", "0e999"},
		{"-1200", "-1.2e3", "-120e+1"},
		{"0.00012", "1.2e-4", "12e-5"},
	} {
		for _, literal := range same {
			require.Equal(t, jsonvalue.DecimalOf(same[0]), jsonvalue.DecimalOf(literal), literal)
		}
	}
	require.True(t, jsonvalue.DecimalOf("1e3").Integer())
	require.False(t, jsonvalue.DecimalOf("1e-3").Integer())
}
