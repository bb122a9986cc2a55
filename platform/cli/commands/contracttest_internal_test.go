package commands

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContains(t *testing.T) {
	t.Parallel()

	answer := json.RawMessage(`{"a":1,"b":{"c":[1,"x"]},"n":12345678901234567890}`)
	for expected, at := range map[string]string{
		`{}`: "", `{"a":1}`: "", `{"b":{"c":[1,"x"]}}`: "", `{"n":12345678901234567890}`: "",
		`{"a":2}`: "/a/", `{"d":1}`: "/d", `{"b":{"c":[1]}}`: "/b/c/", `{"b":{"c":[1,"y"]}}`: "/b/c/1/",
		`{"n":12345678901234567891}`: "/n/",
	} {
		where, ok := contains(answer, json.RawMessage(expected))
		require.Equal(t, at == "", ok, expected)
		require.Equal(t, at, where, expected)
	}
	_, ok := contains(nil, json.RawMessage(`{"a":1}`))
	require.False(t, ok)
}
