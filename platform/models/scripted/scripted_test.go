package scripted_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/scripted"
	"github.com/toolcrib/toolcrib/tool"
)

const desk = `
turns:
  - call:
      - {id: c1, tool: searchOrders, args: {query: ada, limit: 9007199254740993}}
      - {id: c2, tool: searchOrders, raw: '{"query": "grace"'}
  - expect:
      - {call: c1, is_error: false, contains: '"id"'}
    call:
      - id: c3
        tool: refund
        args: {order: {$from: c1, pointer: /orders/1/id}, all: [{$from: c1}]}
  - say: [Done with order, " ", {$from: c1, pointer: /orders/1/id}, .]
`

func write(t *testing.T, content string) *scripted.Model {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "desk.yaml"), []byte(content), 0o600))
	return scripted.New(dir)
}

func answered(id, raw string, isError bool) agent.Message {
	return agent.Message{
		Role: agent.RoleTool, CallID: id, IsError: isError, Content: []tool.Content{tool.JSON(json.RawMessage(raw))},
	}
}

func TestPlaysATranscript(t *testing.T) {
	t.Parallel()

	m := write(t, desk)
	first, err := m.Generate(t.Context(), &agent.ModelRequest{Model: "desk", Turn: 1})
	require.NoError(t, err)
	require.JSONEq(t, `{"query":"ada","limit":9007199254740993}`, string(first.Calls[0].Arguments))
	require.Contains(t, string(first.Calls[0].Arguments), "9007199254740993")
	require.Equal(t, `"{\"query\": \"grace\""`, string(first.Calls[1].Arguments))

	second, err := m.Generate(t.Context(), &agent.ModelRequest{Model: "desk", Turn: 2, Messages: []agent.Message{
		answered("c1", `{"orders":[{"id":7},{"id":9007199254740993}]}`, false),
	}})
	require.NoError(t, err)
	require.JSONEq(t, `{"order":9007199254740993,"all":[{"orders":[{"id":7},{"id":9007199254740993}]}]}`,
		string(second.Calls[0].Arguments))

	third, err := m.Generate(t.Context(), &agent.ModelRequest{Model: "desk", Turn: 3, Messages: []agent.Message{
		answered("c1", `{"orders":[{"id":7},{"id":9007199254740993}]}`, false),
	}})
	require.NoError(t, err)
	require.Equal(t, "Done with order 9007199254740993.", third.Text)
	require.Empty(t, third.Calls)
}

// A play that goes otherwise than the script expects fails, and says how.
func TestExpectations(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		messages []agent.Message
		want     string
	}{
		"NoAnswer": {nil, "expected an answer to call"},
		"IsError":  {[]agent.Message{answered("c1", `{"id":1}`, true)}, "is_error=false"},
		"Text":     {[]agent.Message{answered("c1", `{}`, false)}, "to contain"},
		"Pointer":  {[]agent.Message{answered("c1", `{"id":1,"orders":[]}`, false)}, "the answer has no such value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := write(t, desk).Generate(t.Context(), &agent.ModelRequest{Model: "desk", Turn: 2, Messages: tt.messages})
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, tool.Invalid, tool.KindOf(err))
		})
	}
}

// Where a person may answer no, the run ends with what the script has for that, of the first expectation that is not
// met.
func TestOtherwise(t *testing.T) {
	t.Parallel()

	m := write(t, desk[:strings.Index(desk, "  - expect")]+`
  - expect:
      - {call: c1, is_error: false}
      - {call: c2, is_error: false, otherwise: It was rejected.}
    call: [{id: c3, tool: refund}]
  - say: It is paid.
`)
	play := func(m *scripted.Model, name string, turn int, answers ...agent.Message) (string, int, error) {
		got, err := m.Generate(t.Context(), &agent.ModelRequest{Model: name, Turn: turn, Messages: answers})
		if err != nil {
			return "", 0, err
		}
		return got.Text, len(got.Calls), nil
	}
	said, calls, err := play(m, "desk", 2, answered("c1", `{}`, false), answered("c2", `{}`, false))
	require.NoError(t, err)
	require.Empty(t, said)
	require.Equal(t, 1, calls)
	said, calls, err = play(m, "desk", 2, answered("c1", `{}`, false), answered("c2", `"rejected"`, true))
	require.NoError(t, err)
	require.Equal(t, "It was rejected.", said)
	require.Zero(t, calls)
	_, _, err = play(m, "desk", 2, answered("c1", `"down"`, true), answered("c2", `"rejected"`, true))
	require.ErrorContains(t, err, "is_error=false")

	examples := scripted.New(filepath.Join("..", "..", "..", "examples", "transcripts"))
	said, _, err = play(examples, "buyer", 2, answered("colour", `{"status":"declined"}`, false))
	require.NoError(t, err)
	require.Contains(t, said, "No teapots are on order")
	said, _, err = play(examples, "support-desk", 4, answered("shipping", `"standard"`, false),
		answered("shipping-cups", `{"price_cents":790}`, false), answered("loyalty", `{"tier":"gold"}`, false),
		answered("warranty", `"our fault for five years [1] Warranty and repair › Five years on glazes (handbook/warranty.html)"`, false),
		answered("refund", `"a person rejected the call"`, true))
	require.NoError(t, err)
	require.Contains(t, said, "was not made as I asked")
}

// A run that continues another goes on in the transcript, and begins it anew at its end.
func TestContinues(t *testing.T) {
	t.Parallel()

	m := write(t, "turns:\n  - call: [{id: a, tool: x}]\n  - say: hello\n  - say: again\n")
	said := func(n int) (out []agent.Message) {
		for i := range n {
			out = append(out, agent.Message{ID: strconv.Itoa(i), Role: agent.RoleAssistant}, agent.Message{Role: agent.RoleTool})
		}
		return out
	}
	for _, tt := range []struct {
		before, turn int
		want         string
	}{{0, 1, ""}, {1, 2, "hello"}, {2, 1, "again"}, {3, 1, ""}, {4, 2, "hello"}} {
		got, err := m.Generate(t.Context(), &agent.ModelRequest{Model: "desk", Turn: tt.turn, Messages: said(tt.before)})
		require.NoError(t, err)
		require.Equal(t, tt.want, got.Text, "turn %d after %d answers", tt.turn, tt.before)
	}
	refused := append(said(1), agent.Message{Role: agent.RoleAssistant}) // Within the turn: it is not recorded.
	got, err := m.Generate(t.Context(), &agent.ModelRequest{Model: "desk", Turn: 2, Messages: refused})
	require.NoError(t, err)
	require.Equal(t, "hello", got.Text)
}

func TestRefusesBadTranscripts(t *testing.T) {
	t.Parallel()

	tests := map[string]struct{ yaml, want string }{
		"Empty":        {"turns: []", "no turns"},
		"UnknownField": {"turns:\n  - sya: hello\n", "2:5"},
		"NoEnd":        {"turns:\n  - call: [{id: a, tool: x}]\n", "the last must make no calls"},
		"DoubleID":     {"turns:\n  - call: [{id: a, tool: x}, {id: a, tool: x}]\n  - say: x\n", "used twice"},
		"FutureCall": {
			"turns:\n  - call: [{id: a, tool: x, args: {v: {$from: b}}}]\n  - say: x\n", "which no earlier turn makes",
		},
		"FutureExpect": {"turns:\n  - expect: [{call: a}]\n    say: x\n", "which no earlier turn makes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := write(t, tt.yaml).Generate(t.Context(), &agent.ModelRequest{Model: "desk", Turn: 1})
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := write(t, desk).Generate(t.Context(), &agent.ModelRequest{Model: "../desk", Turn: 1})
	require.ErrorContains(t, err, "a transcript is named by")
}
