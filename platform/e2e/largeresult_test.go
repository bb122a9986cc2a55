package e2e_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

const (
	// largeText is a result that models are shown a preview of, and histories hold.
	largeText = 300 << 10
	needle    = "the needle is here"
)

// large returns a text of size bytes with the needle in its middle.
func large(size int) string {
	half := (size - len(needle)) / 2
	return strings.Repeat("a", half) + needle + strings.Repeat("b", size-half-len(needle))
}

// reports is a site with a tool that answers a text of largeText bytes.
func reports(t *testing.T, lane tool.Lane) (*site, *function.Registry) {
	t.Helper()
	s := newSite(t)
	functions := greeter(t, s)
	report := func(context.Context, noteIn) (noteOut, error) { return noteOut{large(largeText)}, nil }
	require.NoError(t, function.Define(functions, "report", "report", report, function.Pure()))
	s.publish("report", functionTool("report", tool.Execution{Pure: true, Lane: lane}), tool.Policy{})
	global := s.db.Platform.Registry()
	created, err := global.CreateTool(t.Context(), tool.Tool{
		ID: newID(t), Slug: tool.ReadResult, BuiltinKey: tool.ReadResult, Definition: builtin(tool.ReadResult),
		Policy: tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto},
		Status: tool.Draft, Active: true, Version: "1.0.0",
	})
	require.NoError(t, err)
	s.releaseIn(global, created, "1.0.0")
	return s, functions
}

// A model is shown the ends of a large result, finds what it looks for by the built-in, and reads
// it; the record has all of the result once, and the history none of it.
func TestLargeResultIsReadByParts(t *testing.T) {
	t.Parallel()
	for _, lane := range []tool.Lane{tool.LaneAuto, tool.LaneVisible} {
		t.Run(string(lane), func(t *testing.T) {
			t.Parallel()
			s, functions := reports(t, lane)
			var mu sync.Mutex
			var previewed, found, read, foreign string
			other := newID(t)
			model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
				mu.Lock()
				defer mu.Unlock()
				last := req.Messages[len(req.Messages)-1].Content
				reference := func() string {
					for _, m := range req.Messages {
						for _, c := range m.Content {
							if id, ok := strings.CutPrefix(c.URI, tool.ResultURI("")); ok {
								return id
							}
						}
					}
					return ""
				}
				ask := func(id string, arguments map[string]any) (*agent.ModelResponse, error) {
					return &agent.ModelResponse{Calls: []agent.Call{call(id, tool.ReadResult, arguments)}}, nil
				}
				switch req.Turn {
				case 1:
					return &agent.ModelResponse{Calls: []agent.Call{call("c1", "report", noteIn{})}}, nil
				case 2:
					previewed = tool.ReadableText(last)
					return ask("c2", map[string]any{"invocation_id": reference(), "search": "THE NEEDLE"})
				case 3:
					found = tool.ReadableText(last)
					return ask("c3", map[string]any{"invocation_id": reference(), "pointer": "/name", "offset": largeText - 5})
				case 4:
					read = tool.ReadableText(last)
					return ask("c4", map[string]any{"invocation_id": other})
				default:
					foreign = tool.ReadableText(last)
					return &agent.ModelResponse{Text: "done"}, nil
				}
			})
			s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": model}})
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "report", tool.ReadResult)})
			run, w := s.run(a, "go")
			_, err := s.wait(w)
			require.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			require.Less(t, len(previewed), tool.PreviewHead+tool.PreviewTail+1<<10)
			require.NotContains(t, previewed, needle)
			require.Contains(t, previewed, "too many to be shown")
			require.Contains(t, found, needle)
			require.Contains(t, read, `"text": "bbbbb"`)
			require.Contains(t, foreign, "not_found")
			calls := s.invocations(run.ID)
			require.Len(t, calls, 4)
			require.Contains(t, string(calls[0].Output.Structured), needle)
			h := historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID())
			require.NotContains(t, string(historyJSON(t, h)), strings.Repeat("a", tool.MaxInlineResult))
			requireReplays(t, h, "")
		})
	}
}

// A tool's own limit decides what its model is shown of a result, and how much of it the built-in
// gives at once, in both drivers.
func TestToolsOwnLimitOfWhatIsShown(t *testing.T) {
	t.Parallel()
	const limit = 2 << 10
	for _, lane := range []tool.Lane{tool.LaneAuto, tool.LaneVisible} {
		t.Run(string(lane), func(t *testing.T) {
			t.Parallel()
			s, functions := reports(t, lane)
			s.publish("brief", tool.Definition{
				Name: "brief", Implementation: tool.Function, Config: json.RawMessage(`{"function_name":"report"}`),
				Execution: tool.Execution{Pure: true, Lane: lane, InlineBytes: limit},
			}, tool.Policy{})
			var mu sync.Mutex
			var shown []int // By turn: the bytes of text that are the result's.
			model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
				mu.Lock()
				defer mu.Unlock()
				last := tool.ReadableText(req.Messages[len(req.Messages)-1].Content)
				shown = append(shown, strings.Count(last, "a")+strings.Count(last, "b"))
				var id string
				for _, m := range req.Messages {
					for _, c := range m.Content {
						if of, ok := strings.CutPrefix(c.URI, tool.ResultURI("")); ok {
							id = of
						}
					}
				}
				switch req.Turn {
				case 1:
					return &agent.ModelResponse{Calls: []agent.Call{call("c1", "brief", noteIn{})}}, nil
				case 2:
					return &agent.ModelResponse{Calls: []agent.Call{call("c2", tool.ReadResult, map[string]any{
						"invocation_id": id, "pointer": "/name", "limit": 16384,
					})}}, nil
				default:
					return &agent.ModelResponse{Text: "done"}, nil
				}
			})
			s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": model}})
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "brief", tool.ReadResult)})
			_, w := s.run(a, "go")
			_, err := s.wait(w)
			require.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			require.Len(t, shown, 3)
			const words = 100 // Letters of what is said of the result.
			require.Greater(t, shown[1], limit-words)
			require.Less(t, shown[1], limit+words)
			require.GreaterOrEqual(t, shown[2], limit)
			require.Less(t, shown[2], limit+words)
		})
	}
}

// Steps of a composition and nodes of a graph that are bound to a large result get all of it.
func TestLargeResultIsBoundWhole(t *testing.T) {
	t.Parallel()

	s, functions := reports(t, tool.LaneAuto)
	s.publish("composed", composition(`{"steps": [
		{"id": "first", "tool": "report", "arguments": {"name": {"$from": "/input/name"}}},
		{"id": "second", "tool": "greet", "arguments": {"name": {"$from": "/steps/first/result/name"}}}
	], "output": {"greeting": {"$from": "/steps/second/result/name"}}}`, tool.Execution{}), tool.Policy{})
	tools := map[string]string{"composed": "/output/greeting"}
	for _, lane := range []tool.Lane{tool.LaneAuto, tool.LaneFast} {
		slug := "graph_" + string(lane)
		s.publish(slug, graphTool(`{"nodes": [
			{"id": "first", "kind": "tool", "tool": "report", "arguments": {"name": {"$from": "/input/name"}}},
			{"id": "second", "kind": "tool", "tool": "greet", "arguments": {"name": {"$from": "/nodes/first/result/name"}}}
		], "output": {"greeting": {"$from": "/nodes/second/result/name"}}}`, tool.Execution{Lane: lane}), tool.Policy{})
		tools[slug] = "/greeting"
	}
	s.start(worker.Config{Functions: functions})
	for slug, place := range tools {
		w, id, result, err := s.toolCall(slug, `{"name":"x"}`)
		require.NoError(t, err, slug)
		require.NotEmpty(t, result.Warnings, "%s: the history has a reference", slug)
		var whole *tool.Result
		for _, called := range s.invocations(id) {
			if called.ParentID == "" {
				whole = called.Output
			}
		}
		pointer, err := jsonpointer.Parse(place)
		require.NoError(t, err)
		greeting, ok := jsonpointer.NewValue(whole.Structured).Find(pointer)
		require.True(t, ok, slug)
		require.JSONEq(t, `"hello `+large(largeText)+`"`, string(greeting), slug)
		requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()), "")
	}
}

// Arguments, results and messages at their bounds go through Temporal; what is larger is refused,
// referred to, or cut.
func TestBoundsOfHistories(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	functions := function.NewRegistry()
	echo := func(_ context.Context, in noteIn) (noteOut, error) { return noteOut(in), nil }
	require.NoError(t, function.Define(functions, "echo", "echo", echo, function.Pure()))
	fail := func(context.Context, noteIn) (noteOut, error) {
		return noteOut{}, &tool.Error{Kind: tool.Denied, Op: "test", Msg: strings.Repeat("x", 3<<20)}
	}
	require.NoError(t, function.Define(functions, "fail", "fail", fail, function.Pure()))
	for _, name := range []string{"echo", "fail"} {
		s.publish(name, functionTool(name, tool.Execution{Pure: true}), tool.Policy{})
	}
	s.start(worker.Config{Functions: functions})

	most := wire.MaxHistoryArguments - len(`{"name":""}`)
	_, _, result, err := s.toolCall("echo", `{"name":"`+large(most)+`"}`)
	require.NoError(t, err)
	require.NotEmpty(t, result.Warnings, "content and structured value are larger than the bound: it is referred to")
	require.True(t, strings.HasPrefix(result.Content[1].URI, tool.ResultURI("")))

	_, err = s.service(s.temporal).Call(t.Context(), runs.NewCall{Principal: s.principal, Node: wire.Node{
		Tool: refs(t, "echo")[0], Arguments: json.RawMessage(`{"name":"` + large(most+1) + `"}`),
	}})
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.Equal(t, "/arguments", tool.AsError(err).Path)

	w, id, _, err := s.toolCall("fail", `{"name":"x"}`)
	e := tool.AsError(failure.Decode(err))
	require.Equal(t, tool.Denied, e.Kind, "the kind is not lost")
	require.LessOrEqual(t, len(e.Msg), tool.MaxMessage+len("…"))
	require.LessOrEqual(t, len(s.invocations(id)[0].Error), tool.MaxMessage+len("…"))
	require.Less(t, historyBytes(historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID())), 64<<10)
}
