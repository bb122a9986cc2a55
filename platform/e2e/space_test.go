package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/worker"
)

// hall is a site with the built-ins of spaces, and a space with a person.
type hall struct {
	*counter
	space space.Space
}

var hallPerson = space.Member{Kind: space.Person, Name: "test"}

func newHall(t *testing.T) *hall {
	t.Helper()
	h := &hall{counter: newCounter(t)}
	for _, s := range builtins.Described(nil).Specs() {
		if s.Definition.Category != "spaces" {
			continue
		}
		created, err := h.db.Platform.Registry().CreateTool(t.Context(), tool.Tool{
			ID: newID(t), Slug: s.Key, BuiltinKey: s.Key, Definition: s.Definition, Policy: s.Policy, Status: tool.Draft,
			Active: true, Version: s.Version,
		})
		require.NoError(t, err)
		h.releaseIn(h.db.Platform.Registry(), created, s.Version)
	}
	h.principal.Permissions = []string{}
	h.principal.Scopes = []string{}
	var err error
	h.space, err = h.CreateSpace(t.Context(), space.Space{
		Tenant: h.principal.Tenant, Slug: "launch", Name: "Launch", MaxHops: 3, CreatedBy: "test",
	})
	require.NoError(t, err)
	h.join(hallPerson)
	return h
}

func (h *hall) join(m space.Member) {
	h.t.Helper()
	_, err := h.AddSpaceMember(h.t.Context(), h.principal.Tenant, h.space.ID, m, "test")
	require.NoError(h.t, err)
}

// agent publishes an agent that works in spaces, and is a member of the hall's.
func (h *hall) agent(slug string, tools ...string) agent.Agent {
	h.t.Helper()
	a := h.publishAgentAs(slug, agent.Definition{
		Name: slug, Instructions: "You are " + slug + ".", Model: slug + "/x", Tools: refs(h.t, tools...),
		Spaces: []string{agent.AllSpaces},
	})
	h.join(space.Member{Kind: space.Agent, Name: slug})
	return a
}

func (h *hall) post(text string) space.Posted {
	h.t.Helper()
	posted, err := h.PostMessage(h.t.Context(), space.Post{
		SpaceID: h.space.ID, From: hallPerson, Principal: h.principal, Text: text,
	})
	require.NoError(h.t, err)
	return posted
}

// messages returns the messages of the space, oldest first.
func (h *hall) messages() []space.Message {
	h.t.Helper()
	all, err := h.ListSpaceMessages(h.t.Context(), space.MessageQuery{
		Tenant: h.principal.Tenant, SpaceID: h.space.ID, Limit: 200,
	})
	require.NoError(h.t, err)
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// said are the messages as "from: text", and "from: tool status" for calls.
func (h *hall) said() (lines []string) {
	h.t.Helper()
	for _, m := range h.messages() {
		line := m.From.Name + ": " + m.Text
		if m.Call != nil {
			line = fmt.Sprintf("%s: %s %s", m.From.Name, m.Call.Tool, m.Status)
		}
		lines = append(lines, line)
	}
	return lines
}

func (h *hall) eventually(what string, is func() bool) {
	h.t.Helper()
	require.Eventually(h.t, is, time.Minute, 20*time.Millisecond, what)
}

// wake runs what wakes agents, as a server does, until the test ends.
func (h *hall) wake() {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			_, _ = h.runs.WakeAgents(ctx, 10)
			time.Sleep(20 * time.Millisecond)
		}
	})
	h.t.Cleanup(func() { cancel(); done.Wait() })
}

func calls(pairs ...string) (out []agent.Call) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, agent.Call{
			ID: fmt.Sprintf("call_%s_%d", pairs[i], i), Name: pairs[i], Arguments: json.RawMessage(pairs[i+1]),
		})
	}
	return out
}

const enterLaunch = `{"space":"launch"}`

func chart() tool.Definition {
	shown := true
	return tool.Definition{
		Name: "Chart", Description: "Displays a chart.", Implementation: tool.Internal,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"points":{"type":"array"}}}`),
		Interaction: tool.Interaction{Visible: &shown, Intent: tool.Render},
	}
}

// S1-21, Z2: a visible tool outside of a space is an error that says what to do, in both lanes,
// and nobody is asked for an approval of it.
func TestVisibleToolNeedsASpace(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(*tool.Definition, *tool.Policy){
		"in place":     func(*tool.Definition, *tool.Policy) {},
		"visible lane": func(d *tool.Definition, _ *tool.Policy) { d.Execution.Lane = tool.LaneVisible },
		"approval":     func(_ *tool.Definition, p *tool.Policy) { p.RequiresApproval = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHall(t)
			d, p := chart(), tool.Policy{}
			change(&d, &p)
			h.publish("displayChart", d, p)
			a := h.agent("desk", "displayChart")
			h.start(worker.Config{Models: map[string]agent.Model{"desk": play(
				calls("displayChart", `{"points":[1]}`),
				calls("enter_space", enterLaunch, "leave_space", `{}`, "displayChart", `{"points":[2]}`),
			)}})
			run, w := h.run(a, "go")
			_, err := h.wait(w)
			require.NoError(t, err)
			const want = `{"error":"Tool \"displayChart\" is visible but you are not in a space. Call enter_space first."}`
			answers := h.answers(run.ID)
			require.JSONEq(t, `[{"type":"json","json":`+want+`}]`, answers[0])
			require.Equal(t, answers[0], answers[3], "it left the space")
			require.Empty(t, h.said())
		})
	}
}

// An agent without spaces calls visible tools as ever.
func TestVisibleToolOfAnAgentWithoutSpaces(t *testing.T) {
	t.Parallel()

	h := newHall(t)
	h.publish("displayChart", chart(), tool.Policy{})
	a := h.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "displayChart")})
	h.start(worker.Config{Models: map[string]agent.Model{"test": play(calls("displayChart", `{"points":[1]}`))}})
	run, w := h.run(a, "go")
	_, err := h.wait(w)
	require.NoError(t, err)
	require.Contains(t, h.answers(run.ID)[0], `"success":true`)
	require.Empty(t, h.said())
}

// The worked examples of the source: a weather lookup (S1-22), an invisible call of an outside
// program (S1-23), a confirmation answered later (S1-24) and a chart (S1-25). S1-26: the visible
// ones are posted to the space, with their results, and the invisible one is not.
func TestWorkedExamplesInASpace(t *testing.T) {
	t.Parallel()

	h := newHall(t)
	weather := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"sky":"clear"}`)
	}))
	t.Cleanup(weather.Close)
	object := json.RawMessage(`{"type":"object"}`)
	hidden, shown := false, true
	config, err := json.Marshal(map[string]any{"method": "GET", "url": weather.URL + "/current"})
	require.NoError(t, err)
	h.publish("fetchWeather", tool.Definition{
		Name: "Weather", Description: "Fetches the weather.", Implementation: tool.HTTP, Config: config, InputSchema: object,
		Execution: tool.Execution{Pure: true},
	}, tool.Policy{EgressClass: tool.EgressReadOnly})
	h.publish("fetchExternalData", tool.Definition{
		Name: "Data", Description: "Fetches data.", Implementation: tool.Client, InputSchema: object,
		Execution:   tool.Execution{TimeoutSeconds: 60},
		Interaction: tool.Interaction{Visible: &hidden, RequiresResponse: true},
	}, tool.Policy{})
	h.publish("confirmAction", tool.Definition{
		Name: "Confirm", Description: "Asks the user to confirm.", Implementation: tool.Client, InputSchema: object,
		Interaction: tool.Interaction{Visible: &shown, Async: true, RequiresResponse: true},
	}, tool.Policy{})
	h.publish("displayChart", chart(), tool.Policy{})
	a := h.agent("desk", "fetchWeather", "fetchExternalData", "confirmAction", "displayChart")
	h.start(worker.Config{
		Allow: map[tool.TenantID]worker.Allowance{"": {Hosts: []string{strings.TrimPrefix(weather.URL, "http://")}}},
		Models: map[string]agent.Model{"desk": play(
			calls("enter_space", enterLaunch),
			calls("fetchWeather", `{}`, "confirmAction", `{"what":"Book?"}`, "fetchExternalData", `{}`,
				"displayChart", `{"points":[1]}`),
		)},
	})
	run, w := h.run(a, "go")
	var external wait.Call
	h.eventually("the outside program is asked", func() bool {
		found, err := h.ListCalls(t.Context(), wait.CallQuery{
			Tenant: h.principal.Tenant, Status: wait.CallsOpen, Tools: []string{"fetchExternalData"}, Limit: 10,
		})
		require.NoError(t, err)
		if len(found) == 1 {
			external = found[0]
		}
		return len(found) == 1
	})
	require.Equal(t, []string{"desk: fetchWeather complete", "desk: confirmAction requires_action"}, h.said())
	_, err = h.submit(external.ID, `{"rows":3}`)
	require.NoError(t, err)
	_, err = h.wait(w)
	require.NoError(t, err)
	require.Equal(t, []string{
		"desk: fetchWeather complete", "desk: confirmAction requires_action", "desk: displayChart complete",
	}, h.said(), "the confirmation needs action after the run, too (S1-43)")
	messages := h.messages()
	require.Contains(t, string(messages[0].Call.Output), `"sky"`)
	require.JSONEq(t, `{"what":"Book?"}`, string(messages[1].Call.Input))
	require.Contains(t, string(messages[2].Call.Output), `"success":true`)
	require.Contains(t, h.answers(run.ID)[2], `"status":"pending"`)
	late, err := h.submit(messages[1].ID, `{"confirmed":true}`)
	require.NoError(t, err)
	require.True(t, late.Late)
	done := h.messages()[1]
	require.Equal(t, space.Complete, done.Status, "S1-39")
	require.Contains(t, string(done.Call.Output), `"confirmed":true`)
}

// listener is a model that keeps what it was asked with.
type listener struct {
	agent.Model
	mu   sync.Mutex
	reqs []agent.ModelRequest
}

func (m *listener) Generate(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
	m.mu.Lock()
	m.reqs = append(m.reqs, *req)
	m.mu.Unlock()
	return m.Model.Generate(ctx, req)
}

// S1-27, S1-28: the prompt says to enter a space first, where the agent is, and what it keeps; the
// built-ins of spaces are there without being listed, and are never shown.
func TestAgentIsToldToEnterASpace(t *testing.T) {
	t.Parallel()

	h := newHall(t)
	a := h.agent("desk")
	model := &listener{Model: play(
		calls("set_goals", `{"goals":[{"key":"ship","text":"Ship on Friday."}]}`,
			"set_memories", `{"memories":[{"key":"ana","text":"Ana decides."}]}`,
			"set_plans", `{"plans":[{"key":"one","text":"Ask Ana."},{"key":"two","text":"Ship."}]}`),
		calls("enter_space", enterLaunch),
		calls("get_plans", `{}`, "send_message", `{"text":"Hello."}`, "read_messages", `{"limit":5}`),
		calls("delete_plans", `{"keys":["one"]}`, "delete_goals", `{"keys":["ship"]}`, "delete_memories", `{"keys":["none"]}`),
		calls("leave_space", `{}`),
	)}
	h.start(worker.Config{Models: map[string]agent.Model{"desk": model}})
	run, w := h.run(a, "go")
	_, err := h.wait(w)
	require.NoError(t, err)
	var names []string
	for _, spec := range model.reqs[0].Tools {
		names = append(names, spec.Name)
	}
	require.ElementsMatch(t, agent.SpaceTools(), names)
	first, third, last := model.reqs[0].Instructions, model.reqs[2].Instructions, model.reqs[5].Instructions
	require.True(t, strings.HasPrefix(first, "You are desk."))
	require.Contains(t, first, "Call enter_space before you call a tool that is visible")
	require.Contains(t, first, "You are not in a space.")
	require.Contains(t, first, "- launch: Launch")
	require.NotContains(t, first, "# Goals")
	require.Contains(t, third, "You are in the space launch (Launch).")
	for _, want := range []string{
		"# Goals\n- ship: Ship on Friday.", "# Memories\n- ana: Ana decides.", "# Plans\n- one: Ask Ana.",
	} {
		require.Contains(t, third, want)
	}
	require.NotContains(t, last, "# Goals")
	require.NotContains(t, last, "- one: Ask Ana.")
	require.Contains(t, last, "- two: Ship.")
	require.Contains(t, last, "You are not in a space.")
	answers := h.answers(run.ID)
	require.Contains(t, answers[3], `"members":["agent:desk","person:test"]`)
	require.Contains(t, answers[4], `"text":"Ask Ana."`)
	require.Contains(t, answers[6], `"text":"Hello."`)
	require.Contains(t, answers[9], "you have none with the keys none")
	require.Equal(t, []string{"desk: Hello."}, h.said(), "nothing but what it said is shown")
	require.Equal(t, 1, h.messages()[0].Hops)
}

// A definition names the spaces that its agent may enter; membership alone is not enough.
func TestAgentEntersTheSpacesOfItsDefinition(t *testing.T) {
	t.Parallel()

	h := newHall(t)
	a := h.publishAgentAs("desk", agent.Definition{
		Name: "desk", Model: "desk/x", Spaces: []string{"other"}, Tools: []tool.Ref{},
	})
	h.join(space.Member{Kind: space.Agent, Name: "desk"})
	h.start(worker.Config{Models: map[string]agent.Model{"desk": play(
		calls("enter_space", enterLaunch, "send_message", `{"text":"x"}`),
	)}})
	run, w := h.run(a, "go")
	_, err := h.wait(w)
	require.NoError(t, err)
	require.Contains(t, h.answers(run.ID)[0], `there is no space \"launch\"`)
	require.Contains(t, h.answers(run.ID)[1], "You are not in a space. Call enter_space first.")
	require.Empty(t, h.said())
}

// Two agents and a person in one space: a text wakes the agents, what they say wakes the other, up
// to the limit, a visible call wakes nobody (S1-41) and is answered late, and skip ends a run
// without a word.
func TestTwoAgentsAndAPersonInOneSpace(t *testing.T) {
	t.Parallel()

	h := newHall(t)
	shown := true
	h.publish("confirmAction", tool.Definition{
		Name: "Confirm", Description: "Asks the user to confirm.", Implementation: tool.Client,
		InputSchema: json.RawMessage(`{"type":"object"}`),
		Interaction: tool.Interaction{Visible: &shown, Async: true, RequiresResponse: true},
	}, tool.Policy{})
	h.agent("desk", "confirmAction")
	h.agent("clerk")
	h.start(worker.Config{Models: map[string]agent.Model{
		"desk": play(
			calls("enter_space", enterLaunch),
			calls("confirmAction", `{"what":"Book?"}`),
			calls("skip", `{}`),
			calls("send_message", `{"text":"not reached"}`),
		),
		"clerk": play(calls("skip", `{}`)),
	}})
	h.wake()
	require.Equal(t, 2, h.post("Book a hotel, please.").Woken)
	h.eventually("the confirmation is asked", func() bool { return len(h.said()) == 2 })
	ended := func() []agent.Run {
		found, err := h.ListRuns(t.Context(), h.principal.Tenant, store.RunQuery{})
		require.NoError(t, err)
		return found
	}
	h.eventually("both runs end", func() bool {
		found := ended()
		return len(found) == 2 && found[0].Status == agent.RunCompleted && found[1].Status == agent.RunCompleted
	})
	require.Equal(t, []string{"test: Book a hotel, please.", "desk: confirmAction requires_action"}, h.said())
	_, err := h.submit(h.messages()[1].ID, `{"confirmed":true}`)
	require.NoError(t, err)
	require.Equal(t, space.Complete, h.messages()[1].Status)
	time.Sleep(200 * time.Millisecond)
	require.Len(t, ended(), 2, "neither the call nor its result woke an agent")
}

// Agents wake each other up to the space's limit, and the last message says why it woke nobody.
func TestAgentsDoNotWakeEachOtherForever(t *testing.T) {
	t.Parallel()

	h := newHall(t)
	h.agent("desk")
	h.agent("clerk")
	talk := play(calls("enter_space", enterLaunch), calls("send_message", `{"text":"And you?"}`), calls("skip", `{}`))
	h.start(worker.Config{Models: map[string]agent.Model{"desk": talk, "clerk": talk}})
	h.post("Hello.")
	over := func() bool {
		found, err := h.ListRuns(t.Context(), h.principal.Tenant, store.RunQuery{})
		require.NoError(t, err)
		return !slices.ContainsFunc(found, func(run agent.Run) bool { return !run.Status.Final() })
	}
	var last space.Message
	h.eventually("the limit is reached", func() bool {
		if over() { // A run that goes on would take the text up, and need not answer it.
			_, err := h.runs.WakeAgents(t.Context(), 10)
			require.NoError(t, err)
		}
		for _, m := range h.messages() {
			if m.NotWoken != "" {
				last = m
			}
		}
		return last.NotWoken != ""
	})
	require.Equal(t, space.HopLimit, last.NotWoken)
	require.Equal(t, h.space.MaxHops+1, last.Hops)
	h.eventually("every run ends", over)
	for _, m := range h.messages() {
		require.LessOrEqual(t, m.Hops, h.space.MaxHops+1)
	}
}
