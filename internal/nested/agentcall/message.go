package agentcall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/template"
	"github.com/toolcrib/toolcrib/tool"
)

// MaxMessage bounds the message to an agent, in bytes.
const MaxMessage = template.MaxRendered

// maxMessages bounds the argument messages.
const maxMessages = 200

// Names of arguments that form the message to the agent (reference number S3-62).
const (
	argPrompt   = "prompt"
	argText     = "text"
	argInput    = "input"
	argMessages = "messages"
	argContext  = "context"
)

// order is the order of these arguments in the message.
var order = []string{argPrompt, argText, argInput, argMessages, argContext}

// Message returns the first user message to the agent for a call with these arguments, and
// the input that its run is recorded with.
//
// With a template, the message is the rendered prompt. Without one, it is built from the
// arguments prompt, text, input, messages and context: texts unchanged, other values as
// JSON, messages ([{role, content}]) as one text with the role of each. If there are
// arguments of other names, the whole object is the message, as JSON.
//
// It fails with [tool.Invalid] and the JSON Pointer of the argument.
func (c *Config) Message(arguments json.RawMessage) ([]tool.Content, json.RawMessage, error) {
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = json.RawMessage("{}")
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &given); err != nil || given == nil {
		return nil, nil, invalid("", "the arguments are not a JSON object")
	}
	if c.template != nil {
		return c.prompted(arguments)
	}
	content, err := contentOf(arguments, given)
	if err != nil {
		return nil, nil, err
	}
	if err := fits(content); err != nil {
		return nil, nil, err
	}
	if len(content) == 1 && content[0].Type == tool.ContentText {
		input, err := json.Marshal(content[0].Text)
		return content, input, err
	}
	return content, arguments, nil
}

func (c *Config) prompted(arguments json.RawMessage) ([]tool.Content, json.RawMessage, error) {
	text, err := c.template.Render(arguments)
	if err != nil {
		return nil, nil, err
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil, invalid("", "the prompt from these arguments is empty")
	}
	input, err := json.Marshal(text)
	return []tool.Content{tool.Text(text)}, input, err
}

// Instructed returns message after a skill's instructions.
func Instructed(instructions string, message []tool.Content) []tool.Content {
	return slices.Concat([]tool.Content{tool.Text(instructions)}, message)
}

// contentOf builds the message from arguments without a template.
func contentOf(arguments json.RawMessage, given map[string]json.RawMessage) ([]tool.Content, error) {
	for name := range given {
		if !slices.Contains(order, name) {
			return []tool.Content{tool.JSON(arguments)}, nil
		}
	}
	if len(given) == 0 {
		return []tool.Content{tool.JSON(arguments)}, nil
	}
	var content []tool.Content
	for _, name := range order {
		raw, ok := given[name]
		if !ok || string(raw) == "null" {
			continue
		}
		block, err := blockOf(name, raw)
		if err != nil {
			return nil, err
		}
		if block.Type != tool.ContentText || strings.TrimSpace(block.Text) != "" {
			content = append(content, block)
		}
	}
	if len(content) == 0 {
		return nil, invalid("", "the agent has no task: put it into "+strings.Join(order[:4], ", "))
	}
	return content, nil
}

func blockOf(name string, raw json.RawMessage) (tool.Content, error) {
	switch {
	case name == argMessages:
		text, err := transcript(raw)
		return tool.Text(text), err
	case name != argContext && raw[0] == '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return tool.Text(text), err // Can't be: the arguments are valid.
	case name == argContext:
		labelled, err := json.Marshal(map[string]json.RawMessage{argContext: raw})
		return tool.JSON(labelled), err // Can't be: the arguments are valid.
	default:
		return tool.JSON(raw), nil
	}
}

// message is one of the argument messages.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// transcript writes a list of messages as one text. A string instead of a list is returned
// unchanged.
func transcript(raw json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var list []message
	if err := json.Unmarshal(raw, &list); err != nil {
		return "", invalid("/messages", "want a list of {role, content}")
	}
	if len(list) > maxMessages {
		return "", invalid("/messages", fmt.Sprintf("%d messages: at most %d", len(list), maxMessages))
	}
	var b strings.Builder
	for i, m := range list {
		path := fmt.Sprintf("/messages/%d", i)
		if !slices.Contains([]string{"user", "assistant", "system", "tool"}, m.Role) {
			return "", invalid(path+"/role", fmt.Sprintf("role %.40q: want user, assistant, system or tool", m.Role))
		}
		said, ok := textOf(m.Content)
		if !ok {
			return "", invalid(path+"/content", "want a text, or a list of blocks with a text")
		}
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(m.Role + ": " + said)
	}
	return b.String(), nil
}

// textOf returns the text of a message's content: a string, or blocks. A block
// without text is written as its JSON.
func textOf(raw json.RawMessage) (string, bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
		return text, true
	}
	var blocks []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &blocks) != nil || blocks == nil {
		return "", false
	}
	var texts []string
	for _, block := range blocks {
		var b struct {
			Text *string `json:"text"`
		}
		if err := json.Unmarshal(block, &b); err != nil {
			return "", false
		}
		if b.Text != nil {
			texts = append(texts, *b.Text)
		} else {
			texts = append(texts, string(block))
		}
	}
	return strings.Join(texts, "\n"), true
}

func fits(content []tool.Content) error {
	size := 0
	for _, block := range content {
		size += len(block.Text) + len(block.JSON)
	}
	if size > MaxMessage {
		return invalid("", fmt.Sprintf("%d bytes for the agent: at most %d", size, MaxMessage))
	}
	return nil
}

func invalid(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "agentcall.Message", Path: path, Msg: msg}
}
