package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
)

// Reader reads an answer from what a server sent, within an exchange that asked for no tools. It
// fails where that is no answer.
type Reader func(
	ctx context.Context, sent []byte, names *remote.Names, x *remote.Exchange,
) (*agent.ModelResponse, error)

// FuzzAnswers gives readers of a provider's answers whatever a server may send, beginning with what
// the exchanges in testdata of the calling package have. Each ends with an answer that can be
// stored, or with an error; never with a panic. URL is any that the provider's models take.
func FuzzAnswers(f *testing.F, url string, readers ...Reader) {
	f.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(f, err)
	require.NotEmpty(f, files)
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
	keys := remote.Keys{Optional: true}
	endpoint, err := remote.Open(remote.Config{Provider: "fuzzed", Keys: keys}, url, remote.Auth{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, sent []byte) {
		for _, read := range readers {
			ctx, x, err := endpoint.Begin(t.Context(), &agent.ModelRequest{Model: "m"})
			require.NoError(t, err)
			answer, err := read(ctx, sent, remote.NewNames(&agent.ModelRequest{}), x)
			x.End()
			if err == nil {
				requireStorable(t, answer)
			}
		}
	})
}

// Streamed is the response of a server that sent a stream.
func Streamed(sent []byte) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: make(http.Header), Body: io.NopCloser(bytes.NewReader(sent))}
}

func requireStorable(t *testing.T, answer *agent.ModelResponse) {
	t.Helper()
	ids := make(map[string]bool)
	for _, c := range answer.Calls {
		require.NotEmpty(t, c.Name)
		require.True(t, json.Valid(c.Arguments))
		require.False(t, ids[c.ID], "every call has an id of its own")
		ids[c.ID] = true
	}
	require.GreaterOrEqual(t, answer.Usage.InputTokens, 0)
}
