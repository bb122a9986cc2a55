package modeltest

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// ModelName is the model that the cases ask for.
const ModelName = "model-1"

// Case is a turn and the answer that a model must give to it, however it is
// asked. Its name is that of the exchange in testdata.
type Case struct {
	Name    string
	Request agent.ModelRequest
	Want    agent.ModelResponse
}

// Basic returns the cases that any model can answer, a scripted one too. The
// counts of tokens are those of the exchanges.
func Basic() []Case {
	const turn2 = 2
	return []Case{
		{
			Name:    "text",
			Request: request(1, said(agent.RoleUser, "Who are you?")),
			Want: agent.ModelResponse{
				Text: "I am the support desk. How can I help?", Usage: agent.Usage{InputTokens: 42, OutputTokens: 11},
			},
		},
		{
			Name:    "call",
			Request: request(1, said(agent.RoleUser, "Where is SO-1?")),
			Want: agent.ModelResponse{
				Text: "Let me look.",
				Calls: []agent.Call{
					{ID: "call_a1", Name: "getOrder", Arguments: json.RawMessage(`{"order_id":"SO-1","limit":9007199254740993}`)},
				},
				Usage: agent.Usage{InputTokens: 60, OutputTokens: 25},
			},
		},
		{
			Name:    "parallel",
			Request: request(1, said(agent.RoleUser, "Where are SO-1 and SO-2?")),
			Want: agent.ModelResponse{
				Calls: []agent.Call{
					{ID: "call_b1", Name: "getOrder", Arguments: json.RawMessage(`{"order_id":"SO-1"}`)},
					{ID: "call_b2", Name: "getOrder", Arguments: json.RawMessage(`{"order_id":"SO-2"}`)},
					{ID: "call_b3", Name: "listShops", Arguments: json.RawMessage(`{}`)},
				},
				Usage: agent.Usage{InputTokens: 70, OutputTokens: 48},
			},
		},
		{
			Name: "tool_error",
			Request: request(turn2, said(agent.RoleUser, "Where are SO-1 and SO-9?"), agent.Message{
				Role: agent.RoleAssistant, Turn: 1, Content: []tool.Content{tool.Text("I look both up.")},
				Calls: []agent.Call{
					{ID: "call_c1", Name: "getOrder", Arguments: json.RawMessage(`{"order_id":"SO-1"}`)},
					{ID: "call_c2", Name: "getOrder", Arguments: json.RawMessage(`{"order_id": "SO-9"}`)},
				},
			},
				toolSaid("call_c1", 0, false, tool.JSON(json.RawMessage(`{"status":"shipped"}`))),
				toolSaid("call_c2", 1, true, tool.Text("there is no order SO-9"))),
			Want: agent.ModelResponse{
				Text:  "SO-1 is on its way; there is no SO-9.",
				Usage: agent.Usage{InputTokens: 120, OutputTokens: 17, CachedInputTokens: 100},
			},
		},
	}
}

// remoteCases are the cases of models behind an API, beside the basic ones.
func (p Provider) remoteCases() []Case {
	did := searched(p.Did)
	if p.Did == nil { // What it could not have said, it must ignore.
		did = searched([]json.RawMessage{json.RawMessage(`{"type":"unheard_of"}`)})
	}
	return []Case{
		{
			Name:    "provider_tool",
			Request: searching(1, said(agent.RoleUser, "Is the kettle recalled?")),
			Want: agent.ModelResponse{
				Text: "Let me see. It is not recalled.", Content: searched(p.Did),
				Usage: agent.Usage{InputTokens: 90, OutputTokens: 33},
			},
		},
		{
			// What its own tool did, a provider is shown again; other providers'
			// tools did nothing that it could read.
			Name: "provider_next",
			Request: searching(2, said(agent.RoleUser, "Is the kettle recalled?"),
				agent.Message{
					Role: agent.RoleAssistant, Turn: 1,
					Content: append(did, agent.ProviderBlock("another", json.RawMessage(`{"type":"unheard_of"}`))),
				},
				said(agent.RoleUser, "Are you sure?")),
			Want: agent.ModelResponse{Text: "I am.", Usage: agent.Usage{InputTokens: 130, OutputTokens: 4}},
		},
		{
			Name:    "truncated",
			Request: request(1, said(agent.RoleUser, "Tell me everything.")),
			Want: agent.ModelResponse{
				Text: "It began with a", Truncated: true, Usage: agent.Usage{InputTokens: 40, OutputTokens: 4},
			},
		},
		{
			Name:    "truncated_call",
			Request: request(1, said(agent.RoleUser, "Where are SO-1 and SO-2?")),
			Want: agent.ModelResponse{
				Truncated: true,
				Calls: []agent.Call{
					{ID: "call_d1", Name: "getOrder", Arguments: json.RawMessage(`{"order_id":"SO-1"}`)},
					{ID: "call_d2", Name: "getOrder", Arguments: json.RawMessage(`"{\"order_id\":\"S"`)},
				},
				Usage: agent.Usage{InputTokens: 70, OutputTokens: 30, ReasoningTokens: 12},
			},
		},
		{
			Name: "contents",
			Request: request(1, agent.Message{Role: agent.RoleUser, Content: []tool.Content{
				tool.Text("What is this?"),
				{Type: tool.ContentImage, MIMEType: "image/png", Data: []byte("\x89PNG pixels")},
				{Type: tool.ContentImage, MIMEType: "image/tiff", Data: []byte("pixels"), Name: "scan.tiff"},
				{Type: tool.ContentAudio, MIMEType: "audio/wav", Data: []byte("sound")},
				{Type: tool.ContentResource, URI: "file:///note.txt", Text: "a note"},
				tool.JSON(json.RawMessage(`{"n":1}`)),
			}}),
			Want: agent.ModelResponse{Text: "A teapot.", Usage: agent.Usage{InputTokens: 400, OutputTokens: 3}},
		},
		{
			// What a real transcript may hold: an unknown tool's name, ids that
			// are doubled or not allowed, malformed arguments, a call without
			// an answer, an image from a tool, and a turn that said nothing.
			Name: "transcript",
			Request: request(3, said(agent.RoleSystem, "It is Monday."), said(agent.RoleUser, "Hello"),
				agent.Message{Role: agent.RoleAssistant, Calls: []agent.Call{
					{ID: "same", Name: "shop.orders/get", Arguments: json.RawMessage(`{"order_id":"SO-1"}`)},
					{ID: "not allowed!", Name: "no such tool", Arguments: json.RawMessage(`"{'order_id': "`)},
					{ID: "alone", Name: "getOrder", Arguments: json.RawMessage(`[1]`)},
				}},
				toolSaid("not allowed!", 1, true, tool.Text("there is no tool")),
				toolSaid("same", 0, false, tool.Text("See the picture."), tool.Content{
					Type: tool.ContentImage, MIMEType: "image/jpeg", Data: []byte("pixels"),
				}),
				agent.Message{
					Role: agent.RoleAssistant, Calls: []agent.Call{{ID: "same", Name: "getOrder", Arguments: json.RawMessage(`{}`)}},
				},
				toolSaid("same", 0, false),
				agent.Message{Role: agent.RoleAssistant}, said(agent.RoleUser, "And now?")),
			Want: agent.ModelResponse{
				Calls: []agent.Call{{ID: "call_e1", Name: "shop.orders/get", Arguments: json.RawMessage(`{"order_id":"SO-2"}`)}},
				Usage: agent.Usage{InputTokens: 300, OutputTokens: 20},
			},
		},
	}
}

func request(turn int, messages ...agent.Message) agent.ModelRequest {
	return agent.ModelRequest{
		Model: ModelName, Turn: turn, Tenant: "tenant-1", Instructions: "You are the support desk.", Messages: messages,
		Tools: []agent.ToolSpec{
			{Name: "getOrder", Description: "Looks an order up.", InputSchema: json.RawMessage(
				`{"type":"object","properties":{"order_id":{"type":"string"},"limit":{"type":"integer","maximum":9007199254740993}},"required":["order_id"]}`,
			)},
			{Name: "listShops", InputSchema: json.RawMessage(`true`)},
			{Name: "shop.orders/get", Description: "The same, of one shop.", InputSchema: json.RawMessage(
				`{"$schema":"https://json-schema.org/draft/2020-12/schema","oneOf":[` +
					`{"properties":{"order_id":{"type":"string"},"shop":{"type":"string"}},"required":["order_id","shop"]},` +
					`{"properties":{"order_id":{"type":"string"}},"required":["order_id"]}]}`)},
		},
	}
}

// searching is a request with a tool that the provider runs by itself.
func searching(turn int, messages ...agent.Message) agent.ModelRequest {
	req := request(turn, messages...)
	req.ProviderTools = []agent.ProviderTool{{
		Name: "searchWeb", Provider: "testing",
		Tool: json.RawMessage(`{"type":"web_search_20250305","name":"web_search","max_uses":9007199254740993}`),
	}}
	return req
}

// searched is an answer of which a part is what the provider's own tool did; nil
// if answers do not say that.
func searched(did []json.RawMessage) []tool.Content {
	if did == nil {
		return nil
	}
	out := []tool.Content{tool.Text("Let me see. ")}
	for _, raw := range did {
		out = append(out, agent.ProviderBlock("testing", raw))
	}
	return append(out, tool.Text("It is not recalled."))
}

func said(role agent.Role, text string) agent.Message {
	return agent.Message{Role: role, Content: []tool.Content{tool.Text(text)}}
}

func toolSaid(call string, position int, isError bool, content ...tool.Content) agent.Message {
	return agent.Message{Role: agent.RoleTool, CallID: call, Position: position, IsError: isError, Content: content}
}
