package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// stranger is an MCP server of the official SDK whose tools a test changes. It
// counts the calls of each.
type stranger struct {
	*mcp.Server
	url string

	mu    sync.Mutex
	calls map[string]int
	heard strings.Builder // All requests, with their headers.
}

const (
	sheetSchema = `{"type":"object","properties":{"sheet":{"type":"string"}},"required":["sheet"]}`
	rangeSchema = `{"type":"object","properties":{"sheet":{"type":"string"},"range":{"type":"string"}},"required":["sheet","range"]}`
)

// newStranger starts a server with three tools.
func newStranger(t *testing.T) *stranger {
	t.Helper()
	s := &stranger{
		Server: mcp.NewServer(&mcp.Implementation{Name: "sheets", Version: "1"}, nil), calls: make(map[string]int),
	}
	for _, name := range []string{"read", "count", "list"} {
		s.offer(name, "Does it.", sheetSchema)
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.Server }, nil)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.note(r.Header, body)
		handler.ServeHTTP(w, r)
	}))
	s.url = front.URL
	t.Cleanup(func() {
		for open := range s.Sessions() {
			_ = open.Close()
		}
		front.CloseClientConnections()
		front.Close()
	})
	return s
}

// offer puts a tool into the server's offer, in the place of one of that name.
func (s *stranger) offer(name, description, input string) {
	s.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(input)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name + " is done"}}}, nil
		})
}

// note counts a call, of a tool that is there or not.
func (s *stranger) note(header http.Header, body []byte) {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	_ = json.Unmarshal(body, &m)
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = header.Write(&s.heard)
	_, _ = s.heard.Write(body)
	if m.Method == "tools/call" {
		s.calls[m.Params.Name]++
	}
}

func (s *stranger) called(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[name]
}

// guesthouse is a site with a server attached under the slug sheets, whose
// three tools are published.
type guesthouse struct {
	*site
	api    *client.Client
	server *stranger
}

// newGuesthouse starts a worker with models, and an API that talks to servers
// as the worker does.
func newGuesthouse(t *testing.T, server *stranger, models map[string]agent.Model) *guesthouse {
	t.Helper()
	s := newSite(t)
	cfg := worker.Config{
		Store: s.Store, Models: models,
		Allow: map[tool.TenantID]worker.Allowance{"": {Hosts: []string{strings.TrimPrefix(server.url, "http://")}}},
	}
	s.start(cfg)
	asking, err := worker.New(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, asking.Close()) })
	resolve := resolver.New(s.Store, resolver.Options{})
	handler, err := api.New(api.Config{
		Store: s.Store, Resolver: resolve,
		Registry: registry.New(s.Store, registry.Options{Resolver: resolve, Discoverer: asking.Discoverer()}),
		Temporal: s.temporal, TaskQueue: s.queue, RequestTimeout: 2 * time.Minute, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	front := httptest.NewServer(handler)
	t.Cleanup(front.Close)
	c, err := client.New(client.Config{Server: front.URL, Key: s.db.Key(t, s.principal.Tenant, "*")})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	g := &guesthouse{site: s, api: c, server: server}
	g.attach()
	return g
}

// attach approves the server's tools. They are declared read-only, so that
// their calls need no approval.
func (g *guesthouse) attach() {
	g.t.Helper()
	ctx := g.t.Context()
	attached, err := g.api.AttachMCPServer(ctx, v1.MCPServerDefinition{
		Slug: "sheets", URL: g.server.url, AllowedTools: []string{"read", "count", "list"},
	})
	require.NoError(g.t, err)
	require.Nil(g.t, attached.Error)
	require.Equal(g.t, []string{"new count", "new list", "new read"}, told(attached))
	for _, found := range attached.Tools {
		held, err := g.api.Tool(ctx, found.Tool)
		require.NoError(g.t, err)
		_, err = g.api.UpdateTool(ctx, held.Slug, v1.ToolDefinition{
			Name: held.Name, Description: held.Description, InputSchema: held.InputSchema, OutputSchema: held.OutputSchema,
			Implementation: tool.MCP, Config: held.Config, EgressClass: tool.EgressReadOnly, Interaction: &held.Interaction,
		})
		require.NoError(g.t, err)
	}
	g.approve("count", "list", "read")
}

// approve lets in what the server offers now, and publishes it. It returns the
// version of the last.
func (g *guesthouse) approve(names ...string) string {
	g.t.Helper()
	in := v1.ApproveMCP{Publish: true}
	for _, name := range names {
		in.Tools = append(in.Tools, v1.MCPApproval{Name: name})
	}
	approved, err := g.api.ApproveMCPTools(g.t.Context(), "sheets", in)
	require.NoError(g.t, err)
	require.Zero(g.t, approved.Failed, approved.Items)
	return approved.Items[len(names)-1].Version
}

func (g *guesthouse) refresh() []string {
	g.t.Helper()
	found, err := g.api.RefreshMCPServer(g.t.Context(), "sheets")
	require.NoError(g.t, err)
	require.Nil(g.t, found.Error)
	return told(found)
}

func told(r v1.MCPRefresh) []string {
	out := []string{}
	for _, t := range r.Tools {
		out = append(out, t.Change+" "+t.Name)
	}
	return out
}

const anySheet = `{"sheet":"stock"}`

// requireRuns makes sure that tools run, as one call each.
func (g *guesthouse) requireRuns(slug, arguments string) {
	g.t.Helper()
	got, err := g.api.CallTool(g.t.Context(), slug, v1.NewCall{Arguments: json.RawMessage(arguments), WaitS: new(60.0)})
	require.NoError(g.t, err, slug)
	require.Equal(g.t, agent.RunCompleted, got.Status)
	require.False(g.t, got.Result.IsError)
	require.Contains(g.t, got.Result.Content[0].Text, "is done")
}

// requireStops makes sure that the next call of a tool meets what its server
// did, that the tool is quarantined, and that no call gets as far after that.
func (g *guesthouse) requireStops(slug, met string) {
	g.t.Helper()
	for _, says := range []string{met, "is quarantined: the server"} {
		_, err := g.api.CallTool(g.t.Context(), slug, v1.NewCall{Arguments: json.RawMessage(anySheet), WaitS: new(60.0)})
		require.Equal(g.t, tool.Conflict, tool.KindOf(err), "%v", err)
		require.ErrorContains(g.t, err, says)
		held, err := g.api.Tool(g.t.Context(), slug)
		require.NoError(g.t, err)
		require.Contains(g.t, held.Quarantine, "refresh the server to see")
	}
}

// A server changes, renames and drops tools that run. Each changed tool is
// stopped at its next call, which is not made; the other tools continue; and
// the tool can be called again once its new definition was approved.
func TestAChangedToolOfAServerStopsAlone(t *testing.T) {
	t.Parallel()

	server := newStranger(t)
	g := newGuesthouse(t, server, nil)
	for _, slug := range []string{"sheetsRead", "sheetsCount", "sheetsList"} {
		g.requireRuns(slug, anySheet)
	}

	// Changed.
	server.offer("read", "Reads a range of a sheet.", rangeSchema)
	g.requireStops("sheetsRead", "changed its definition")
	require.Equal(t, 1, server.called("read"), "what changed was not called")
	g.requireRuns("sheetsCount", anySheet)
	g.requireRuns("sheetsList", anySheet)
	require.Equal(t, []string{"changed read"}, g.refresh())
	drifts, err := g.api.DiffMCPServer(t.Context(), "sheets", "")
	require.NoError(t, err)
	require.Len(t, drifts.Items, 1)
	require.Equal(t, "Does it.", drifts.Items[0].Pinned.Description)
	require.Equal(t, "Reads a range of a sheet.", drifts.Items[0].Offered.Description)
	require.Equal(t, "2.0.0", drifts.Items[0].Diff.Least)
	require.Contains(t, drifts.Items[0].Diff.Changes, v1.Change{
		Path: "input/range", Bump: "major", Reason: "the property is required now",
	})
	require.Equal(t, "2.0.0", g.approve("read"))
	g.requireRuns("sheetsRead", `{"sheet":"stock","range":"A1"}`)
	require.Equal(t, 2, server.called("read"))

	// Renamed.
	server.RemoveTools("count")
	server.offer("tally", "Does it.", sheetSchema)
	g.requireStops("sheetsCount", "renamed or removed")
	require.Zero(t, server.called("tally"))
	g.requireRuns("sheetsList", anySheet)
	require.Equal(t, []string{"gone count", "offered tally"}, g.refresh())

	// Gone, and back as it was.
	server.RemoveTools("list")
	g.requireStops("sheetsList", "renamed or removed")
	g.requireRuns("sheetsRead", `{"sheet":"stock","range":"A1"}`)
	require.Equal(t, []string{"gone count", "gone list"}, g.refresh())
	server.offer("list", "Does it.", sheetSchema)
	require.Equal(t, []string{"back list", "gone count"}, sorted(g.refresh()))
	g.requireRuns("sheetsList", anySheet)
}

func sorted(texts []string) []string {
	slices.Sort(texts)
	return texts
}

// Under way, an agent's call of a tool that its server dropped ends as a
// conflict, and its next is not admitted; the run goes on with the neighbours.
func TestAToolThatAServerDropsUnderWayStopsAlone(t *testing.T) {
	t.Parallel()

	server := newStranger(t)
	g := newGuesthouse(t, server, map[string]agent.Model{
		"test": agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
			switch req.Turn {
			case 2:
				server.RemoveTools("read")
			case 4:
				return &agent.ModelResponse{Text: "done"}, nil
			}
			n := strconv.Itoa(req.Turn)
			return &agent.ModelResponse{Calls: []agent.Call{
				call("read-"+n, "sheetsRead", json.RawMessage(anySheet)),
				call("count-"+n, "sheetsCount", json.RawMessage(anySheet)),
			}}, nil
		}),
	})
	a := g.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "sheetsRead", "sheetsCount")})
	run, w := g.run(a, "go")
	_, err := g.wait(w)
	require.NoError(t, err)
	ended, err := g.FindRun(t.Context(), g.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, ended.Status)

	ends := make(map[string][]string)
	for _, i := range g.invocations(run.ID) {
		end := string(i.Status) + " " + string(i.ErrorKind)
		if strings.Contains(i.Error, "is quarantined") {
			end += ", not admitted"
		}
		ends[i.Slug] = append(ends[i.Slug], end)
	}
	require.Equal(t, map[string][]string{
		"sheetsRead":  {"completed ", "failed conflict", "failed conflict, not admitted"},
		"sheetsCount": {"completed ", "completed ", "completed "},
	}, ends)
	require.Equal(t, 3, server.called("count"))
	// The second call may be stopped before it is sent, where the machine was slow.
	require.Contains(t, []int{1, 2}, server.called("read"))
	held, err := g.api.Tool(t.Context(), "sheetsRead")
	require.NoError(t, err)
	require.Contains(t, held.Quarantine, "the server no longer has it")
	require.Equal(t, []string{"gone read"}, g.refresh())
}
