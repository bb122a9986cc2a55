package modeltest

import (
	"bufio"
	"bytes"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the requests of exchanges as they are made")

// Exchange is a request that a provider is to get, and its answer.
type Exchange struct {
	path    string
	Request string  // The JSON body.
	Whole   Message // The answer in one piece.
	Stream  Message // The same, as a stream of events.
}

// Message is an HTTP answer.
type Message struct {
	Status int
	Header http.Header
	Body   string
}

// Load reads an exchange from testdata: three sections, each after a line
// "-- name --", called request, whole and stream. The last two hold an HTTP
// answer with its status line and headers.
func Load(t *testing.T, name string) *Exchange {
	t.Helper()
	e := &Exchange{path: filepath.Join("testdata", name+".txt")}
	raw, err := os.ReadFile(e.path)
	require.NoError(t, err)
	sections := split(string(raw))
	e.Request = sections["request"]
	e.Whole, e.Stream = readMessage(t, sections["whole"]), readMessage(t, sections["stream"])
	return e
}

// split cuts a file at its "-- name --" lines.
func split(text string) map[string]string {
	out := make(map[string]string)
	name := ""
	for line := range strings.Lines(text) {
		if inner, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok && strings.HasSuffix(inner, " --") {
			name = strings.TrimSuffix(inner, " --")
			continue
		}
		out[name] += line
	}
	return out
}

func readMessage(t *testing.T, text string) Message {
	t.Helper()
	if text == "" {
		return Message{}
	}
	resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text)), nil)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return Message{Status: resp.StatusCode, Header: resp.Header, Body: string(body)}
}

// requireRequest holds a request against the expected one; with -update, it
// becomes the expected one.
func (e *Exchange) requireRequest(t *testing.T, got string) {
	t.Helper()
	if *update {
		raw, err := os.ReadFile(e.path)
		require.NoError(t, err)
		before, rest, _ := bytes.Cut(raw, []byte("-- request --\n"))
		_, after, _ := bytes.Cut(rest, []byte("-- whole --\n"))
		out := string(before) + "-- request --\n" + indented(t, got) + "\n-- whole --\n" + string(after)
		require.NoError(t, os.WriteFile(e.path, []byte(out), 0o600))
		return
	}
	require.JSONEq(t, e.Request, got)
}

// Events returns the events of a stream's body, each with the empty line that
// ends it.
func (m Message) Events() []string {
	events := strings.SplitAfter(m.Body, "\n\n")
	if last := len(events) - 1; events[last] == "" {
		events = events[:last]
	}
	return events
}
