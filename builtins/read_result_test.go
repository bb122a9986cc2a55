package builtins_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/tool"
)

// calls are the calls of tenant t, by id.
type calls map[string]tool.Invocation

func (c calls) FindInvocation(_ context.Context, tenant tool.TenantID, id string) (tool.Invocation, error) {
	found, ok := c[id]
	if !ok || tenant != "t" {
		return tool.Invocation{}, &tool.Error{Kind: tool.NotFound, Op: "test", Msg: "invocation not found"}
	}
	return found, nil
}

func textResult(s string) *tool.Result { return &tool.Result{Content: []tool.Content{tool.Text(s)}} }

// FindLateResult finds what came late to run r of tenant t.
func (c calls) FindLateResult(
	_ context.Context, tenant tool.TenantID, runID, id string,
) (*tool.Result, int, error) {
	if tenant != "t" || runID != "r" || id != lateCall {
		return nil, 0, &tool.Error{Kind: tool.NotFound, Op: "test", Msg: "call not found"}
	}
	return textResult(strings.Repeat("late ", 100)), 64, nil
}

// The result that came to the inbox of a run is read, and not what its call ended with before.
func TestReadLateResult(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]calls{
		"OfACallThatTimedOut": {lateCall: {CallIdentity: tool.CallIdentity{RunID: "r"}, Status: tool.StatusExpired}},
		"OfACallInBackground": {lateCall: answered("r", textResult("it goes on"))},
		"OfARunBelow":         {lateCall: answered("below", textResult("it goes on"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := newResultReader(t, known)
			got, err := read("t", "r", map[string]any{"invocation_id": lateCall})
			require.NoError(t, err)
			var part resultPart
			require.NoError(t, json.Unmarshal(got.Structured, &part))
			require.Equal(t, 500, part.TotalBytes)
			require.Len(t, part.Text, 64, "as much as the tool shows at once")
			_, err = read("t", "other", map[string]any{"invocation_id": lateCall})
			require.Equal(t, tool.NotFound, tool.KindOf(err))
		})
	}
}

const (
	lateCall = "01890000-0000-7000-8000-00000000000d"
	textCall = "01890000-0000-7000-8000-00000000000a"
	jsonCall = "01890000-0000-7000-8000-00000000000b"
	openCall = "01890000-0000-7000-8000-00000000000c"
)

func answered(run string, result *tool.Result) tool.Invocation {
	return tool.Invocation{CallIdentity: tool.CallIdentity{RunID: run}, Status: tool.StatusCompleted, Output: result}
}

// resultPart is what the built-in answers.
type resultPart struct {
	Text       string `json:"text"`
	NextOffset *int   `json:"next_offset"`
	TotalBytes int    `json:"total_bytes"`
	TotalLines int    `json:"total_lines"`
	Matches    []struct {
		Offset int    `json:"offset"`
		Line   int    `json:"line"`
		Text   string `json:"text"`
	} `json:"matches"`
}

// resultReader calls the built-in as a run of a tenant.
type resultReader func(tenant tool.TenantID, run string, arguments map[string]any) (*tool.Result, error)

func newResultReader(t *testing.T, known calls) resultReader {
	t.Helper()
	executor, ok := builtins.New(builtins.Config{Calls: known}).Lookup(tool.ReadResult)
	require.True(t, ok)
	return func(tenant tool.TenantID, run string, arguments map[string]any) (*tool.Result, error) {
		raw, err := json.Marshal(arguments)
		require.NoError(t, err)
		return executor.Execute(t.Context(), &tool.Call{
			CallIdentity: tool.CallIdentity{Principal: tool.Principal{Tenant: tenant}, RunID: run}, Arguments: raw,
		})
	}
}

// A result is read whole by following next_offset, whatever its characters need, and each part is
// small enough to be shown whole.
func TestReadResultPages(t *testing.T) {
	t.Parallel()

	for name, text := range map[string]string{
		"lines": strings.Repeat("a line of words\n", 10_000), "wide": strings.Repeat("é", 50_000),
		"escaped": strings.Repeat("\x01", 50_000), "short": "x",
	} {
		result := &tool.Result{Content: []tool.Content{tool.Text(text)}}
		read := newResultReader(t, calls{textCall: answered("run", result)})
		var got strings.Builder
		for offset, parts := 0, 0; ; parts++ {
			require.Less(t, parts, 100, name)
			result, err := read("t", "run", map[string]any{"invocation_id": textCall, "offset": offset, "limit": 16384})
			require.NoError(t, err)
			_, cut := tool.Preview(result.Content, textCall, 0)
			require.False(t, cut, name)
			var part resultPart
			require.NoError(t, json.Unmarshal(result.Structured, &part))
			require.Equal(t, len(text), part.TotalBytes)
			got.WriteString(part.Text)
			if part.NextOffset == nil {
				break
			}
			offset = *part.NextOffset
		}
		require.Equal(t, text, got.String(), name)
	}
}

func TestReadResultSelects(t *testing.T) {
	t.Parallel()

	read := newResultReader(t, calls{
		textCall: answered("run", &tool.Result{Content: []tool.Content{tool.Text("zero\none\ntwo ONE\nthree")}}),
		jsonCall: answered("run", tool.JSONResult(json.RawMessage(`{"items":[{"name":"pen"},{"name":"ink","n":null}]}`))),
		openCall: {CallIdentity: tool.CallIdentity{RunID: "run"}, Status: tool.StatusRunning},
	})
	part := func(arguments map[string]any) resultPart {
		result, err := read("t", "run", arguments)
		require.NoError(t, err)
		require.False(t, result.IsError, "%v", result.Content)
		var part resultPart
		require.NoError(t, json.Unmarshal(result.Structured, &part))
		return part
	}
	lines := part(map[string]any{"invocation_id": textCall, "line": 1, "lines": 2})
	require.Equal(t, "one\ntwo ONE\n", lines.Text)
	require.Equal(t, 4, lines.TotalLines)
	require.Equal(t, len("zero\none\ntwo ONE\n"), *lines.NextOffset)
	require.Empty(t, part(map[string]any{"invocation_id": textCall, "offset": 1 << 40, "line": 9}).Text)

	found := part(map[string]any{"invocation_id": textCall, "search": "one"})
	require.Len(t, found.Matches, 2)
	require.Equal(t, []int{5, 13}, []int{found.Matches[0].Offset, found.Matches[1].Offset})
	require.Equal(t, []int{1, 2}, []int{found.Matches[0].Line, found.Matches[1].Line})
	require.Len(t, part(map[string]any{"invocation_id": textCall, "search": "one", "offset": 6}).Matches, 1)
	require.Empty(t, part(map[string]any{"invocation_id": textCall, "search": "four"}).Matches)

	ink := "{\n  \"name\": \"ink\",\n  \"n\": null\n}"
	require.Equal(t, "pen", part(map[string]any{"invocation_id": jsonCall, "pointer": "/items/0/name"}).Text)
	require.Equal(t, ink, part(map[string]any{"invocation_id": jsonCall, "pointer": "/items/1"}).Text)
	require.Equal(t, "null", part(map[string]any{"invocation_id": jsonCall, "pointer": "/items/1/n"}).Text)

	for _, arguments := range []map[string]any{
		{"invocation_id": jsonCall, "pointer": "/items/2"},
		{"invocation_id": jsonCall, "pointer": "items"},
		{"invocation_id": textCall, "pointer": "/items"},
		{"invocation_id": openCall},
	} {
		result, err := read("t", "run", arguments)
		require.NoError(t, err)
		require.True(t, result.IsError, "%v", arguments)
	}
}

// Many matches are found by parts.
func TestReadResultFindsMany(t *testing.T) {
	t.Parallel()

	result := &tool.Result{Content: []tool.Content{tool.Text(strings.Repeat("é needle ", 50))}}
	read := newResultReader(t, calls{textCall: answered("run", result)})
	found := 0
	for offset := 0; ; {
		result, err := read("t", "run", map[string]any{"invocation_id": textCall, "search": "needle", "offset": offset})
		require.NoError(t, err)
		var part resultPart
		require.NoError(t, json.Unmarshal(result.Structured, &part))
		found += len(part.Matches)
		if part.NextOffset == nil {
			break
		}
		require.Len(t, part.Matches, 20)
		offset = *part.NextOffset
	}
	require.Equal(t, 50, found)
}

// Of a tool with a limit of its own, no part is larger than that, nor what is around all matches
// together. All of the result is found all the same.
func TestReadResultByTheToolsOwnLimit(t *testing.T) {
	t.Parallel()

	const limit, lines = tool.MinInlineResult, 500
	text := strings.Repeat("a needle in a line of many words\n", lines)
	limited := answered("run", &tool.Result{Content: []tool.Content{tool.Text(text)}})
	limited.InlineBytes = limit
	read := newResultReader(t, calls{textCall: limited})
	for name, arguments := range map[string]map[string]any{
		"bytes": {"limit": 16384}, "default": {}, "lines": {"lines": 1000}, "search": {"search": "needle"},
	} {
		arguments["invocation_id"] = textCall
		var got strings.Builder
		matches := 0
		for parts := 0; ; parts++ {
			require.Less(t, parts, lines, name)
			result, err := read("t", "run", arguments)
			require.NoError(t, err)
			var part resultPart
			require.NoError(t, json.Unmarshal(result.Structured, &part))
			shown := len(part.Text)
			for _, m := range part.Matches {
				shown += len(m.Text)
			}
			require.LessOrEqual(t, shown, limit, name)
			matches += len(part.Matches)
			got.WriteString(part.Text)
			if part.NextOffset == nil {
				break
			}
			arguments["offset"] = *part.NextOffset
		}
		if name == "search" {
			require.Equal(t, lines, matches)
		} else {
			require.Equal(t, text, got.String(), name)
		}
	}
}

// Results of other runs and tenants do not exist, in the words for what does not.
func TestReadResultOfAnotherRun(t *testing.T) {
	t.Parallel()

	read := newResultReader(t, calls{textCall: answered("run", &tool.Result{Content: []tool.Content{tool.Text("x")}})})
	_, err := read("t", "run", map[string]any{"invocation_id": textCall})
	require.NoError(t, err)
	_, unknown := read("t", "run", map[string]any{"invocation_id": openCall})
	require.Equal(t, tool.NotFound, tool.KindOf(unknown))
	for _, by := range [][2]string{{"t", "other"}, {"t", ""}, {"u", "run"}} {
		_, err := read(tool.TenantID(by[0]), by[1], map[string]any{"invocation_id": textCall})
		require.EqualError(t, err, strings.ReplaceAll(unknown.Error(), openCall, textCall), by)
	}
}
