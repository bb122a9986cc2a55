package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Events and output come as they are written, in one order, and after the last
// of them the stream says that it is over.
func TestStreamOfARun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run := b.record(t)
	s := b.stream(t, events(run), nil)
	f, ok := s.next()
	require.True(t, ok)
	require.Equal(t, frame{id: "0", retry: time.Second}, f)

	f, e := s.event()
	require.Equal(t, "1", f.id)
	require.Equal(t, "run.started", f.event)
	require.Equal(t, run.ID, e.RunID)

	b.say(t, run, 1, 1, "The order\nis")
	f, e = s.event()
	require.Equal(t, "2", f.id)
	require.Equal(t, "agent.output_appended", f.event)
	require.Equal(t, agent.EventOutputAppended, e.Type)
	require.JSONEq(t, `{"turn":1,"attempt":1,"text":"The order\nis"}`, string(e.Data))

	b.settle(t, run, tool.StatusFailed)
	f, e = s.event()
	require.Equal(t, "3", f.id)
	require.Equal(t, "tool.failed", f.event)
	require.NotEmpty(t, e.InvocationID)

	b.finish(t, run)
	f, _ = s.event()
	require.Equal(t, "run.completed", f.event)
	require.Equal(t, []frame{{event: "end", data: `{"status":"completed"}`}}, s.rest())

	again := b.stream(t, events(run)+"?after=2", nil).rest()
	require.Equal(t, []string{"3", "4", ""}, ids(again))
	require.Equal(t, v1.EventEnd, again[2].event)
	require.Equal(t, []string{"4", ""}, ids(b.stream(t, events(run)+"?after=1", from("3")).rest()),
		"the header goes before the parameter")
	require.Equal(t, []string{""}, ids(b.stream(t, events(run)+"?after=4", nil).rest()))

	var page v1.Page[tool.Event]
	b.do(t, http.MethodGet, events(run)+"?after=1", "").into(t, &page)
	require.Len(t, page.Items, 2, "a page is of events alone")
}

func ids(frames []frame) []string {
	out := make([]string, len(frames))
	for i, f := range frames {
		out[i] = f.id
	}
	return out
}

// A browser that reconnects to a stream it has seen to the end is answered that
// it must not reconnect.
func TestStreamThatIsOver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run := b.record(t)
	b.finish(t, run)
	for id, status := range map[string]int{"1": http.StatusOK, "2": http.StatusNoContent, "700": http.StatusNoContent} {
		resp, _ := b.openStream(t, events(run), from(id))
		require.Equal(t, status, resp.StatusCode, id)
	}
}

func TestStreamsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run := b.record(t)
	stranger := b.Key(t, b.Tenant(t), "*")
	for name, c := range map[string]struct {
		path, id, key string
		code          tool.Kind
	}{
		"another tenant's": {path: events(run), key: stranger, code: tool.NotFound},
		"of nothing":       {path: "/v1/runs/nonsense/events", key: b.key, code: tool.NotFound},
		"no permission":    {path: events(run), key: b.Key(t, b.tenant, "tools.read"), code: tool.Denied},
		"no key":           {path: events(run), key: "tck_none", code: tool.Denied},
		"no place":         {path: events(run), id: "x", key: b.key, code: tool.Invalid},
		"negative":         {path: events(run), id: "-1", key: b.key, code: tool.Invalid},
		"no such names":    {path: events(run) + "?names=other", key: b.key, code: tool.Invalid},
		"no tenant's":      {path: "/v1/events", key: b.Key(t, b.tenant, "tools.read"), code: tool.Denied},
		"former place":     {path: "/v1/events", id: "771-7", key: b.key, code: tool.Invalid},
		"beyond the end":   {path: "/v1/events", id: "70000", key: b.key, code: tool.Conflict},
	} {
		header := http.Header{}
		if c.id != "" {
			header = from(c.id)
		}
		resp, _ := b.openStream(t, c.path, header, c.key)
		require.Equal(t, v1.ProblemType, resp.Header.Get("Content-Type"), name)
		var p v1.Problem
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&p), name)
		require.Equal(t, c.code, p.Code, name)
	}
}

// The names of the other vocabularies, each event by each of them.
func TestNamesOfEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run := b.record(t)
	require.NoError(t, b.Store.AppendOutput(t.Context(), agent.Output{
		Tenant: b.tenant, RunID: run.ID, Turn: 1, Attempt: 1, CallID: "c", Text: "half of it",
	}))
	for _, status := range []tool.InvocationStatus{
		tool.StatusCompleted, tool.StatusFailed, tool.StatusCancelled, tool.StatusRejected, tool.StatusExpired,
	} {
		b.settle(t, run, status)
	}
	b.finish(t, run)
	canonical := []string{
		"run.started", "tool.output_appended", "tool.completed", "tool.failed", "tool.cancelled", "tool.rejected",
		"tool.expired",
		"run.completed", "end",
	}
	for query, want := range map[string][]string{
		"":                 canonical,
		"?names=canonical": canonical,
		"?names=streaming": {
			"run.started", "tool.streaming", "tool.done", "tool.error", "tool.error", "tool.error", "tool.error",
			"run.completed", "end",
		},
		"?names=dispatch": {
			"run.started", "tool.output_appended", "tool_invocation_completed", "tool_invocation_failed",
			"tool_invocation_failed",
			"tool_invocation_failed", "tool_invocation_failed", "run.completed", "end",
		},
		"?names=confirmation": canonical,
	} {
		frames := b.stream(t, events(run)+query, nil).rest()
		names := make([]string, len(frames))
		for i, f := range frames {
			names[i] = f.event
			if i < len(frames)-1 {
				require.Contains(t, f.data, `"type":"`+canonical[i]+`"`, "the data keeps the canonical type")
			}
		}
		require.Equal(t, want, names, query)
	}
	require.Equal(t, "tool_invocation_started", v1.DispatchNames.Of(tool.EventStarted))
	require.Equal(t, "tool.started", v1.StreamingNames.Of(tool.EventStarted))
	require.Equal(t, "confirmation_required", v1.ConfirmationNames.Of(tool.EventNeedsApproval))
	require.Equal(t, "tool_use", v1.ConfirmationNames.Of(tool.EventPending))
}

// A stream outlives the limits that requests have, and shows that it lives.
func TestStreamOutlivesRequests(t *testing.T) {
	t.Parallel()
	const limit = 2 * time.Second
	b := setup(t, func(c *api.Config) { c.RequestTimeout, c.Streams.Heartbeat = limit, limit/20 })
	server := httptest.NewUnstartedServer(b.server)
	server.Config.ReadTimeout, server.Config.WriteTimeout = limit, limit
	server.Start()
	t.Cleanup(server.Close)
	b.url = server.URL

	run := b.record(t)
	s := b.stream(t, events(run), nil)
	s.event()
	for opened, beats := time.Now(), 0; time.Since(opened) < 2*limit || beats < 2; {
		f, ok := s.next()
		require.True(t, ok, "the stream broke off after %d beats", beats)
		if f.comment != "" {
			beats++
		}
	}
	b.finish(t, run)
	require.Len(t, s.rest(), 2)
}

// A key that is revoked, or runs out, is no good for a stream that it opened.
func TestStreamOfARevokedKey(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.Streams.Heartbeat = 20 * time.Millisecond })
	run := b.record(t)
	key, text, err := b.Store.CreateKey(t.Context(), store.Key{
		Tenant: b.tenant, Name: "watcher", Permissions: []string{"runs.read"},
	})
	require.NoError(t, err)
	s := b.stream(t, events(run), nil, text)
	s.event()
	_, err = b.Store.RevokeKey(t.Context(), b.tenant, key.ID)
	require.NoError(t, err)
	require.Empty(t, s.rest(), "nothing follows, and not the end either")
}

// The tenant's stream has the events of all of its runs, each once, and of no
// other tenant.
func TestStreamOfATenant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.record(t)
	s := b.stream(t, "/v1/events", nil)
	seen := map[string]int{}
	count := func(s *stream, until int) (last frame) {
		for range until {
			var e tool.Event
			last, e = s.event()
			seen[e.RunID+"/"+number(e.Seq)]++
			require.NotEqual(t, agent.EventOutputAppended, e.Type)
		}
		return last
	}
	count(s, 1)
	second := b.record(t)
	other := *b
	other.tenant = b.Tenant(t)
	other.record(t)
	b.say(t, first, 1, 1, "not in it")
	b.finish(t, first)
	last := count(s, 2)
	s.close()

	b.settle(t, second, tool.StatusFailed)
	b.finish(t, second)
	count(b.stream(t, "/v1/events", from(last.id)), 2)
	require.Equal(t, map[string]int{
		first.ID + "/1": 1, first.ID + "/3": 1, second.ID + "/1": 1, second.ID + "/2": 1, second.ID + "/3": 1,
	}, seen)

	var all []tool.Event
	after := ""
	for {
		var page v1.EventPage
		b.do(t, http.MethodGet, "/v1/events?limit=2&after="+after, "").into(t, &page)
		if page.Next == "" {
			break
		}
		require.LessOrEqual(t, len(page.Items), 2)
		all, after = append(all, page.Items...), page.Next
	}
	require.Len(t, all, 5)
	require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodGet, "/v1/events?after=x-1", "").status)
}

// A client that follows future events gets a position to reconnect from before
// any event happened.
func TestStreamFromNow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.stream(t, "/v1/events?after=now", nil)
	f, ok := s.next()
	require.True(t, ok)
	require.Regexp(t, `^\d+$`, f.id)
	s.close()
	run := b.record(t)
	back := b.stream(t, "/v1/events", from(f.id))
	for {
		if _, e := back.event(); e.RunID == run.ID {
			return
		}
	}
}

// A description says that both are possible.
func TestStreamsAreDescribed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var doc struct {
		Paths map[string]struct {
			Get struct {
				Parameters []struct {
					Name string `json:"name"`
				} `json:"parameters"`
				Responses map[string]struct {
					Content map[string]json.RawMessage `json:"content"`
				} `json:"responses"`
			} `json:"get"`
		} `json:"paths"`
	}
	b.do(t, http.MethodGet, "/openapi.json", "", "").into(t, &doc)
	for _, path := range []string{"/v1/runs/{id}/events", "/v1/events"} {
		get := doc.Paths[path].Get
		require.Contains(t, string(get.Responses["200"].Content["application/json"]), "$ref", path)
		require.Contains(t, get.Responses["200"].Content, v1.StreamType, path)
		var names []string
		for _, p := range get.Parameters {
			names = append(names, p.Name)
		}
		require.Subset(t, names, []string{"after", "names", "Last-Event-ID"}, path)
		require.NotContains(t, strings.Join(names, " "), "Accept", path)
	}
}
