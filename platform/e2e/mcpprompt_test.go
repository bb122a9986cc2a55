package e2e_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Clients are offered the prompts of their key: tools that are prompts, with arguments filled in and completed by
// their schemas, and the instructions of published agents where the key sees agents. Nothing runs.
func TestMCPPrompts(t *testing.T) {
	t.Parallel()

	c := newMCPDesk(t, readers(t))
	d := functionTool("summarize", tool.Execution{Pure: true})
	d.Implementation = tool.Prompt
	d.Config = json.RawMessage(`{"mode":"direct","model":"scripted/none","system":"Be brief.",` +
		`"prompt_template":"Summarize in {{words}} words, in {{style}} style: {{text}}"}`)
	d.InputSchema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","description":"What to read."},
		"words":{"type":"integer","minimum":1},"style":{"enum":["plain","poetic","precise"]}},"required":["text","words"]}`)
	c.publish("summarize", d, tool.Policy{})
	c.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	clerk := c.publishAgent(agent.Definition{
		Name: "Clerk", Instructions: "Answer questions about orders.", Model: "test/x",
	})
	key := c.db.Key(t, c.principal.Tenant, "tools.read", "runs.write")
	for _, revision := range []string{withSessions, withoutSessions} {
		all, few := c.connect(revision, nil), c.connect(revision, nil, key)
		list, err := all.ListPrompts(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, list.Prompts, 2)
		shown := list.Prompts[0]
		require.Equal(t, "summarize", shown.Name)
		require.Len(t, shown.Arguments, 3)
		require.Equal(t, "agent/"+clerk.Slug, list.Prompts[1].Name)
		list, err = few.ListPrompts(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, list.Prompts, 1, "the key does not see agents")

		got, err := few.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "summarize", Arguments: map[string]string{
			"text": "12", "words": "3", "style": "plain",
		}})
		require.NoError(t, err)
		require.Len(t, got.Messages, 2)
		require.Equal(t, "Be brief.", promptText(t, got.Messages[0]))
		require.Equal(t, "Summarize in 3 words, in plain style: 12", promptText(t, got.Messages[1]))
		got, err = all.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "agent/" + clerk.Slug})
		require.NoError(t, err)
		require.Equal(t, "Answer questions about orders.", promptText(t, got.Messages[0]))
		for says, params := range map[string]*mcp.GetPromptParams{
			"unknown prompt \"agent/": {Name: "agent/" + clerk.Slug}, `unknown prompt "read"`: {Name: "read"},
			`unknown prompt "none"`: {Name: "none"}, "words": {Name: "summarize", Arguments: map[string]string{"text": "x"}},
		} {
			_, err := few.GetPrompt(t.Context(), params)
			require.ErrorContains(t, err, says)
		}
		completed, err := few.Complete(t.Context(), &mcp.CompleteParams{
			Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "summarize"},
			Argument: mcp.CompleteParamsArgument{Name: "style", Value: "P"},
		})
		require.NoError(t, err)
		require.Equal(t, []string{"plain", "poetic", "precise"}, completed.Completion.Values)
	}
}

func promptText(t *testing.T, m *mcp.PromptMessage) string {
	t.Helper()
	text, ok := m.Content.(*mcp.TextContent)
	require.True(t, ok)
	return text.Text
}

// A client without sessions listens to changes of its list by a request of its own, and hears of them until it
// stops; a revoked key hears of none.
func TestMCPListensWithoutSessions(t *testing.T) {
	t.Parallel()

	c := newMCPDesk(t, readers(t))
	_, secret, err := c.CreateKey(t.Context(), store.Key{
		Tenant: c.principal.Tenant, Name: "listener", Permissions: []string{"tools.read"},
	})
	require.NoError(t, err)
	heard := make(chan struct{}, 20)
	c.connect(withoutSessions, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { heard <- struct{}{} },
	}, secret)
	other := c.connect(withoutSessions, nil, secret)
	deadline := time.After(time.Minute)
	for i := 0; ; i++ { // The first look at the list may come after the first tools.
		name := "read" + string(rune('a'+i%26))
		c.publish(name, functionTool(name, tool.Execution{Pure: true}), tool.Policy{})
		select {
		case <-heard:
		case <-time.After(7 * time.Second):
			continue
		case <-deadline:
			require.Fail(t, "no notification came")
		}
		break
	}
	list, err := other.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.NotEmpty(t, list.Tools, "other requests of the key are answered meanwhile")
}

// Clients hear when the list of their prompts has changed, with a session or by a request of their own.
func TestMCPPromptsListChanged(t *testing.T) {
	t.Parallel()

	c := newMCPDesk(t, readers(t))
	for _, revision := range []string{withSessions, withoutSessions} {
		heard := make(chan struct{}, 20)
		session := c.connect(revision, &mcp.ClientOptions{
			PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) { heard <- struct{}{} },
		})
		if revision == withSessions {
			require.True(t, session.InitializeResult().Capabilities.Prompts.ListChanged)
		}
		deadline := time.After(time.Minute)
		for again := true; again; { // The first look at the list may come after the first agents.
			slug := "clerk" + strings.ReplaceAll(newID(t), "-", "")[16:]
			c.publishAgentAs(slug, agent.Definition{Name: "Clerk", Instructions: "Answer.", Model: "test/x"})
			select {
			case <-heard:
				again = false
			case <-time.After(7 * time.Second):
			case <-deadline:
				require.Fail(t, "no notification came")
			}
		}
	}
}
