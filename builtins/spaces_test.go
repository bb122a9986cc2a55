package builtins_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

// room is the space "launch" of one agent, and its notes.
type room struct {
	runs
	inside   bool
	hops     int
	messages []space.Message // Newest first.
	posted   []space.Post
	notes    map[string]space.Note
}

func newRoom() *room {
	return &room{
		runs: runs{"run": {
			ID: "run", Tenant: "t", Plan: &agent.Plan{Spaces: []string{"launch"}},
		}}, notes: map[string]space.Note{},
	}
}

var launch = space.Space{ID: "s1", Slug: "launch", Name: "Launch"}

func (r *room) EnterSpace(_ context.Context, _ tool.TenantID, _, _, name string) (space.Space, error) {
	if name != "launch" {
		return space.Space{}, &tool.Error{Kind: tool.NotFound, Msg: "space not found"}
	}
	r.inside = true
	return launch, nil
}

func (r *room) LeaveSpace(context.Context, tool.TenantID, string) (*space.Space, error) {
	if !r.inside {
		return nil, nil //nolint:nilnil // As the store.
	}
	r.inside = false
	return &launch, nil
}

func (r *room) RunSpace(context.Context, tool.TenantID, string) (*space.Place, error) {
	if !r.inside {
		return nil, nil //nolint:nilnil // As the store.
	}
	return &space.Place{Space: launch, Agent: "desk", Hops: r.hops}, nil
}

func (r *room) ListSpaceMembers(context.Context, tool.TenantID, string) ([]space.Membership, error) {
	return []space.Membership{{Member: space.Member{Kind: space.Agent, Name: "desk"}}}, nil
}

func (r *room) PostMessage(_ context.Context, p space.Post) (space.Posted, error) {
	r.posted = append(r.posted, p)
	return space.Posted{Message: space.Message{Seq: int64(len(r.posted))}, Woken: 1}, nil
}

func (r *room) ListSpaceMessages(_ context.Context, q space.MessageQuery) ([]space.Message, error) {
	from := min(q.Offset, len(r.messages))
	return r.messages[from:min(from+q.Limit, len(r.messages))], nil
}

func (r *room) SetNotes(_ context.Context, _ tool.TenantID, _ string, notes []space.Note) error {
	for _, n := range notes {
		r.notes[string(n.Kind)+"/"+n.Key] = n
	}
	return nil
}

func (r *room) DeleteNotes(
	_ context.Context, _ tool.TenantID, _ string, kind space.NoteKind, keys []string,
) (gone []string, err error) {
	for _, key := range keys {
		if _, ok := r.notes[string(kind)+"/"+key]; ok {
			delete(r.notes, string(kind)+"/"+key)
			gone = append(gone, key)
		}
	}
	return gone, nil
}

func (r *room) ListNotes(
	_ context.Context, _ tool.TenantID, _ string, kind space.NoteKind,
) (out []space.Note, err error) {
	for _, n := range r.notes {
		if n.Kind == kind {
			out = append(out, n)
		}
	}
	return out, nil
}

// ask calls a built-in for a run of the agent.
func (r *room) ask(t *testing.T, key, arguments string) *tool.Result {
	t.Helper()
	return r.askAs(t, key, arguments, tool.CallIdentity{
		Principal: tool.Principal{Tenant: "t", Subject: "user:ana"}, RunID: "run", AgentID: "agent", InvocationID: "call",
	})
}

func (r *room) askAs(t *testing.T, key, arguments string, id tool.CallIdentity) *tool.Result {
	t.Helper()
	catalog := builtins.New(builtins.Config{Spaces: r})
	executor, ok := catalog.Lookup(key)
	require.True(t, ok)
	result, err := executor.Execute(t.Context(), &tool.Call{
		CallIdentity: id, Builtin: key, Arguments: json.RawMessage(arguments),
	})
	require.NoError(t, err)
	if !result.IsError {
		specs := catalog.Specs()
		i := slices.IndexFunc(specs, func(s builtins.Spec) bool { return s.Key == key })
		output, err := schema.New(0).Compile(specs[i].Definition.OutputSchema)
		require.NoError(t, err)
		require.NoError(t, output.Validate(t.Context(), result.Structured), "what %s answers fits its output schema", key)
	}
	return result
}

// S1-28: the built-ins of spaces are never visible, and only for runs of agents.
func TestSpaceToolsAreHiddenAndForAgents(t *testing.T) {
	t.Parallel()

	keys := agent.SpaceTools()
	specs := builtins.New(builtins.Config{Spaces: newRoom()}).Specs()
	for _, s := range specs {
		if s.Definition.Category != "spaces" {
			continue
		}
		require.Contains(t, keys, s.Key)
		keys = slices.DeleteFunc(keys, func(key string) bool { return key == s.Key })
		require.False(t, s.Definition.Shown(), s.Key)
		require.Equal(t, tool.VisibilityInternal, s.Definition.Interaction.Visibility)
		require.NotContains(t, string(s.Definition.InputSchema), "space_id", "S1-1")
		require.Equal(t, s.Key == "enter_space", strings.Contains(string(s.Definition.InputSchema), `"space"`), s.Key)
		require.True(t, newRoom().askAs(t, s.Key, `{}`, tool.CallIdentity{Principal: tool.Principal{Tenant: "t"}}).IsError)
	}
	require.Empty(t, keys)
}

func TestEnterAndLeaveASpace(t *testing.T) {
	t.Parallel()

	r := newRoom()
	r.messages = []space.Message{
		{Seq: 2, Kind: space.Tool, From: space.Member{Kind: space.Agent, Name: "desk"}, Status: space.Complete, Call: &space.Call{
			Tool: "displayChart", Input: json.RawMessage(`{"n":1}`), Output: json.RawMessage(`{"ok":true}`),
		}},
		{Seq: 1, Kind: space.Text, From: space.Member{Kind: space.Person, Name: "user:ana"}, Text: "hello"},
	}
	require.True(t, r.ask(t, "leave_space", `{}`).IsError)
	for _, name := range []string{"other", "01890000-0000-7000-8000-00000000000a"} {
		require.True(t, r.ask(t, "enter_space", `{"space":"`+name+`"}`).IsError, "the definition does not name it")
	}
	entered := r.ask(t, "enter_space", `{"space":"launch"}`)
	require.False(t, entered.IsError)
	var view struct {
		Members  []string `json:"members"`
		Messages []struct {
			Seq    int             `json:"seq"`
			From   string          `json:"from"`
			Text   string          `json:"text"`
			Tool   string          `json:"tool"`
			Output json.RawMessage `json:"output"`
		} `json:"messages"`
	}
	require.NoError(t, json.Unmarshal(entered.Structured, &view))
	require.Equal(t, []string{"agent:desk"}, view.Members)
	require.Equal(t, []int{1, 2}, []int{view.Messages[0].Seq, view.Messages[1].Seq}, "oldest first")
	require.Equal(t, "displayChart", view.Messages[1].Tool)
	require.JSONEq(t, `{"ok":true}`, string(view.Messages[1].Output))
	require.JSONEq(t, `{"left":"launch"}`, string(r.ask(t, "leave_space", `{}`).Structured))
}

func TestSendAndReadMessages(t *testing.T) {
	t.Parallel()

	r := newRoom()
	for _, key := range []string{"send_message", "read_messages"} {
		outside := r.ask(t, key, map[string]string{"send_message": `{"text":"x"}`, "read_messages": `{}`}[key])
		require.True(t, outside.IsError)
		require.Contains(t, outside.Content[0].Text, "Call enter_space first")
	}
	r.inside, r.hops = true, 2
	require.JSONEq(t, `{"space":"launch","seq":1,"woken":1}`, string(r.ask(t, "send_message", `{"text":"hello"}`).Structured))
	require.Equal(t, "call", r.posted[0].ID, "posted once for each call")
	require.Equal(t, 3, r.posted[0].Hops)
	require.Equal(t, space.Member{Kind: space.Agent, Name: "desk"}, r.posted[0].From)
	require.True(t, r.ask(t, "send_message", `{"text":"`+strings.Repeat("x", space.MaxText+1)+`"}`).IsError)
	for i := range 5 {
		r.messages = append(r.messages, space.Message{Seq: int64(5 - i), Text: strconv.Itoa(5 - i)})
	}
	var page struct {
		Messages []struct{ Text string }
		More     bool
	}
	require.NoError(t, json.Unmarshal(r.ask(t, "read_messages", `{"offset":1,"limit":2}`).Structured, &page))
	require.Equal(t, []string{"3", "4"}, []string{page.Messages[0].Text, page.Messages[1].Text})
	require.True(t, page.More)
	require.JSONEq(t, `{"skipped":true}`, string(r.ask(t, "skip", `{}`).Structured))
}

// A space whose messages are as large as they may be can be entered, and read piece by piece.
func TestLargeMessagesAreRead(t *testing.T) {
	t.Parallel()

	r := newRoom()
	r.inside = true
	value, err := json.Marshal(map[string]string{"rows": strings.Repeat("<", space.MaxValue-100)})
	require.NoError(t, err)
	for i := range 60 {
		m := space.Message{Seq: int64(60 - i), Kind: space.Tool, Status: space.Complete, Call: &space.Call{
			Tool: "displayChart", Input: value, Output: value,
		}}
		if i%2 == 1 {
			m = space.Message{Seq: m.Seq, Kind: space.Text, Text: strings.Repeat("\x01ü", space.MaxText/3)}
		}
		r.messages = append(r.messages, m)
	}
	var view struct {
		Messages []struct {
			Seq    int64
			Tool   string
			Output map[string]any
			Text   string
		}
	}
	for _, call := range [][2]string{{"enter_space", `{"space":"launch"}`}, {"read_messages", `{"limit":50}`}} {
		result := r.ask(t, call[0], call[1])
		require.Less(t, len(result.Structured), middleware.DefaultMaxResultBytes, call[0])
		require.NoError(t, json.Unmarshal(result.Structured, &view))
		last, first := view.Messages[len(view.Messages)-1], view.Messages[1]
		require.Contains(t, last.Output, "rows", "the newest are whole")
		require.Equal(t, "displayChart", first.Tool)
		require.NotContains(t, first.Output, "rows")
		require.Equal(t, true, first.Output["truncated"])
	}
	one := r.ask(t, "read_messages", `{"offset":59,"limit":1}`)
	require.NoError(t, json.Unmarshal(one.Structured, &view))
	require.Len(t, view.Messages[0].Text, space.MaxText/3*3, "one alone is always whole")
}

func TestNotesOfAgents(t *testing.T) {
	t.Parallel()

	r := newRoom()
	require.JSONEq(t, `{"set":1}`, string(r.ask(t, "set_goals", `{"goals":[{"key":"a","text":"x","done":true}]}`).Structured))
	require.JSONEq(t, `{"set":1}`, string(r.ask(t, "set_memories", `{"memories":[{"key":"a","text":"y"}]}`).Structured))
	require.JSONEq(t, `{"set":1}`, string(r.ask(t, "set_plans", `{"plans":[{"key":"a","text":"z"}]}`).Structured))
	require.True(t, r.notes["goal/a"].Done)
	require.JSONEq(t, `{"plans":[{"key":"a","text":"z"}]}`, string(r.ask(t, "get_plans", `{}`).Structured))
	require.JSONEq(t, `{"deleted":["a"]}`, string(r.ask(t, "delete_plans", `{"keys":["a","b"]}`).Structured))
	require.True(t, r.ask(t, "delete_plans", `{"keys":["a"]}`).IsError)
	require.Len(t, r.notes, 2)
	require.True(t, r.ask(t, "set_goals", `{"goals":[{"key":"a","text":"`+strings.Repeat("x", space.MaxNote+1)+`"}]}`).IsError)
}
