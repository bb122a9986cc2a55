package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/platform/agentspec"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// loose is the arguments and the answer of a tool whose schema is the document's.
type loose = map[string]any

// imported publishes the definitions that an Agent Spec document makes, and returns the slug of its graph.
func (s *everySite) imported(document string) string {
	s.t.Helper()
	raw, err := os.ReadFile("../agentspec/testdata/" + document)
	require.NoError(s.t, err)
	made, err := agentspec.Import(raw, agentspec.Options{})
	require.NoError(s.t, err)
	for _, raw := range made.Definitions {
		var d struct {
			Slug, Name string
			Type       tool.Implementation `json:"implementation_type"`
			Config     json.RawMessage     `json:"implementation_config"`
			Input      json.RawMessage     `json:"input_schema"`
		}
		require.NoError(s.t, json.Unmarshal(raw, &d))
		require.Equal(s.t, tool.Graph, d.Type)
		s.publish(d.Slug, tool.Definition{
			Name: d.Name, Implementation: d.Type, Config: d.Config, InputSchema: d.Input,
			Execution: tool.Execution{TimeoutSeconds: 120, Lane: tool.LaneFast},
		}, tool.Policy{})
	}
	return made.Slug
}

// Imported graphs run: a cycle with data across its iterations, a flow that fails and one that does not, flows that end
// in two ways, and a loop in a map in a loop.
func TestImportedGraphsRun(t *testing.T) {
	t.Parallel()
	s := &everySite{&counter{site: newSite(t)}}
	functions := function.NewRegistry()
	var mu sync.Mutex
	tries := map[string]int{}
	define := func(name string, fn func(in loose) (loose, error)) {
		require.NoError(t, function.Define(functions, name, name, func(_ context.Context, in loose) (loose, error) {
			mu.Lock()
			defer mu.Unlock()
			return fn(in)
		}))
		d := functionTool(name, tool.Execution{})
		d.InputSchema = json.RawMessage(`{"type":"object"}`)
		s.publish(name, d, tool.Policy{})
	}
	define("writeDraft", func(in loose) (loose, error) {
		return loose{"draft": fmt.Sprintf("%s%s.", in["draft"], in["topic"])}, nil
	})
	define("reviewDraft", func(in loose) (loose, error) {
		text, _ := in["draft"].(string)
		return loose{"review": "longer", "ready": map[bool]string{true: "yes", false: "no"}[len(text) > 8]}, nil
	})
	define("chargeCard", func(in loose) (loose, error) {
		if in["order"] == "bad" {
			return nil, errors.New("the card is refused")
		}
		return loose{"receipt": "paid " + in["order"].(string)}, nil //nolint:errcheck // The test's own.
	})
	define("shipOrder", func(loose) (loose, error) { return loose{}, nil })
	define("noteProblem", func(in loose) (loose, error) { return loose{"id": in["problem"]}, nil })
	define("stockOf", func(in loose) (loose, error) {
		if in["sku"] == "tea" {
			return loose{"count": 3, "level": "in"}, nil
		}
		return loose{"count": 0, "level": "out"}, nil
	})
	define("tryJob", func(in loose) (loose, error) {
		job, _ := in["job"].(string)
		tries[job]++
		return loose{"state": map[bool]string{true: "done", false: "busy"}[tries[job] > 1]}, nil
	})
	define("nextBatch", func(in loose) (loose, error) {
		states, _ := in["states"].([]any)
		return loose{"jobs": []any{"c"}, "more": map[bool]string{true: "yes", false: "no"}[len(states) > 1]}, nil
	})
	slugs := map[string]string{}
	for _, document := range []string{"loop.json", "exception.json", "subflow.json", "nested.json"} {
		slugs[document] = s.imported(document)
	}
	s.start(worker.Config{Functions: functions})

	for _, c := range []struct{ document, args, want string }{
		{"loop.json", `{"topic":"tea"}`, `{"draft":"tea.tea.tea.","rounds":0}`},
		{"exception.json", `{"order":"7"}`, `{"receipt":"paid 7","problem":""}`},
		{"subflow.json", `{"sku":"tea","other":"cup"}`, `{"count":3}`},
		{"subflow.json", `{"sku":"cup","other":"tea"}`, `{"count":3}`},
		{"subflow.json", `{"sku":"cup","other":"pot"}`, `{"count":0}`},
		{"nested.json", `{"first":["a","b"]}`, `{"states":["done"]}`},
	} {
		_, _, result, err := s.toolCall(slugs[c.document], c.args)
		require.NoError(t, err, c.document)
		require.JSONEq(t, c.want, string(result.Structured), "%s %s", c.document, c.args)
	}
	require.Equal(t, map[string]int{"a": 2, "b": 2, "c": 2}, tries)
	_, _, result, err := s.toolCall(slugs["exception.json"], `{"order":"bad"}`)
	require.NoError(t, err)
	require.Contains(t, string(result.Structured), "the card is refused")
	require.Contains(t, string(result.Structured), `"receipt":""`)
}
