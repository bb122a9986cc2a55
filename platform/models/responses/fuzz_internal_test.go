package responses

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/openai/openai-go/v3/packages/ssestream"
	sdk "github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
)

// FuzzAnswer: whatever a server sends, the answer is one that can be stored,
// or an error; never a panic.
func FuzzAnswer(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(f, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		_, rest, _ := bytes.Cut(raw, []byte("-- whole --"))
		whole, stream, _ := bytes.Cut(rest, []byte("-- stream --"))
		for _, part := range [][]byte{whole, stream} {
			_, body, _ := bytes.Cut(part, []byte("\n\n"))
			f.Add(body)
		}
	}
	endpoint, err := remote.Open(remote.Config{Provider: "fuzzed", Keys: remote.Keys{Optional: true}}, PublicURL,
		remote.Auth{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, raw []byte) {
		ctx, x, err := endpoint.Begin(t.Context(), &agent.ModelRequest{Model: "m"})
		require.NoError(t, err)
		defer x.End()
		names := remote.NewNames(&agent.ModelRequest{})
		var whole sdk.Response
		if whole.UnmarshalJSON(raw) == nil {
			if said, err := read(&whole, nil, x); err == nil {
				requireSound(t, said, names, x)
			}
		}
		resp := &http.Response{StatusCode: http.StatusOK, Header: make(http.Header), Body: io.NopCloser(bytes.NewReader(raw))}
		events := ssestream.NewStream[sdk.ResponseStreamEventUnion](ssestream.NewDecoder(resp), nil)
		if said, err := streamed(ctx, events, x, func(agent.Delta) {}); err == nil {
			requireSound(t, said, names, x)
		}
	})
}

func requireSound(t *testing.T, said *answer, names *remote.Names, x *remote.Exchange) {
	t.Helper()
	resp, err := said.response(1, names, x)
	if err != nil {
		return
	}
	ids := make(map[string]bool)
	for _, c := range resp.Calls {
		require.NotEmpty(t, c.Name)
		require.True(t, json.Valid(c.Arguments))
		require.False(t, ids[c.ID], "every call has an id of its own")
		ids[c.ID] = true
	}
	require.GreaterOrEqual(t, resp.Usage.InputTokens, 0)
}
