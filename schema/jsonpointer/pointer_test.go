package jsonpointer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// The examples of RFC 6901, section 5.
func TestFindFollowsTheStandard(t *testing.T) {
	t.Parallel()

	value := jsonpointer.NewValue(json.RawMessage(` {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8} `))
	for pointer, want := range map[string]string{
		"/foo": `["bar", "baz"]`, "/foo/0": `"bar"`, "/": "0", "/a~1b": "1", "/c%d": "2", "/e^f": "3",
		"/g|h": "4", `/i\j`: "5", `/k"l`: "6", "/ ": "7", "/m~0n": "8",
	} {
		p, err := jsonpointer.Parse(pointer)
		require.NoError(t, err, pointer)
		require.Equal(t, pointer, p.String())
		got, ok := value.Find(p)
		require.True(t, ok, pointer)
		require.Equal(t, want, string(got), pointer)
	}
	for _, pointer := range []string{"/foo/2", "/foo/-", "/foo/00", "/foo/-1", "/foo/bar", "/nothing", "//0"} {
		p, err := jsonpointer.Parse(pointer)
		require.NoError(t, err, pointer)
		_, ok := value.Find(p)
		require.False(t, ok, pointer)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()

	for _, s := range []string{"foo", "~", "/~", "/a~2b", strings.Repeat("/x", jsonpointer.MaxTokens+1)} {
		_, err := jsonpointer.Parse(s)
		require.Error(t, err, s)
	}
}

func TestFindInMalformedJSONFindsNothing(t *testing.T) {
	t.Parallel()

	for _, raw := range []string{"", "{", `{"a":`, "[1", "nope"} {
		_, ok := jsonpointer.NewValue(json.RawMessage(raw)).Find(jsonpointer.New("a"))
		require.False(t, ok, raw)
	}
}

func TestTokensSurviveTheirText(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.SliceOfN(rapid.String(), 1, 8).Draw(t, "tokens")
		p, err := jsonpointer.Parse(jsonpointer.New(tokens...).String())
		require.NoError(t, err)
		require.Equal(t, tokens, p.Tokens())
	})
}
