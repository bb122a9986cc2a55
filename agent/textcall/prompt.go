package textcall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of [Describe].
const (
	MaxSchema       = 16 << 10  // Of a tool's input schema.
	MaxDescription  = 2 << 10   // Of a tool's description.
	MaxDescriptions = 128 << 10 // Of all tools; later ones are only named.
)

const preamble = `# Tools

You can call the tools below. To call one, write its name and its arguments, which match its input schema, as JSON:

<tool_call>
{"name": "…", "arguments": {…}}
</tool_call>

Write one such block for each call, with nothing else in it, and end your answer after the last one. You get the
answers in the next message, in <tool_response> blocks. Never write a <tool_response> block yourself. Call only tools
that are listed here. If you need none, answer without a block.`

// Describe returns instructions that tell a model of tools, and how to call them in its text.
// Schemas that are too large are left out, and say so; the tools can be called all the same.
func Describe(instructions string, tools []agent.ToolSpec) string {
	if len(tools) == 0 {
		return instructions
	}
	var out strings.Builder
	if instructions != "" {
		out.WriteString(instructions + "\n\n")
	}
	out.WriteString(preamble)
	var named []string
	left := MaxDescriptions
	for _, t := range tools {
		text := describe(t)
		if left -= len(text); left < 0 {
			named = append(named, t.Name)
			continue
		}
		out.WriteString(text)
	}
	if len(named) > 0 {
		out.WriteString("\n\nFurther tools, whose descriptions are too long to be shown: " + strings.Join(named, ", "))
	}
	return out.String()
}

func describe(t agent.ToolSpec) string {
	text := "\n\n## " + t.Name
	if t.Description != "" {
		text += "\n\n" + tool.Clip(t.Description, MaxDescription)
	}
	var input bytes.Buffer
	if err := json.Compact(&input, field.Bare(t.InputSchema)); err != nil || input.Len() > MaxSchema {
		return text + "\n\nIts input schema is too large to be shown. " +
			"Calls with wrong arguments are answered with what is wrong."
	}
	return text + "\n\nInput schema: " + input.String()
}

// Transcript returns messages with calls and their answers as text: calls as <tool_call>
// blocks behind the text of their message, answers as <tool_response> blocks of a user's
// message. The messages given are unchanged.
func Transcript(messages []agent.Message) []agent.Message {
	out := make([]agent.Message, 0, len(messages))
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if len(m.Calls) == 0 {
			if m.Role != agent.RoleTool { // One without its call says nothing.
				out = append(out, m)
			}
			continue
		}
		answers := make([]*agent.Message, len(m.Calls))
		for i+1 < len(messages) && messages[i+1].Role == agent.RoleTool {
			i++
			if p := messages[i].Position; p >= 0 && p < len(answers) {
				answers[p] = &messages[i]
			}
		}
		said := m
		said.Calls = nil
		said.Content = append(slices.Clip(m.Content), tool.Text(writeCalls(m.Calls)))
		reply := agent.Message{RunID: m.RunID, Turn: m.Turn, Role: agent.RoleUser}
		for n, c := range m.Calls {
			reply.Content = append(reply.Content, writeAnswer(c, answers[n])...)
		}
		out = append(out, said, reply)
	}
	return out
}

func writeCalls(calls []agent.Call) string {
	blocks := make([]string, len(calls))
	for i, c := range calls {
		arguments := c.Arguments
		if !json.Valid(arguments) {
			arguments = json.RawMessage("{}")
		}
		name, _ := json.Marshal(c.Name) // A string always encodes.
		blocks[i] = fmt.Sprintf("<tool_call>\n{\"name\": %s, \"arguments\": %s}\n</tool_call>", name, arguments)
	}
	return strings.Join(blocks, "\n")
}

// writeAnswer returns the answer to a call as a block. Images and the like stand behind it.
func writeAnswer(c agent.Call, answer *agent.Message) []tool.Content {
	state := ""
	texts := []string{"There is no answer to this call."}
	var others []tool.Content
	if answer == nil || answer.IsError {
		state = ` error="true"`
	}
	if answer != nil {
		texts = nil
		for _, block := range answer.Content {
			switch block.Type {
			case tool.ContentText:
				texts = append(texts, block.Text)
			case tool.ContentJSON:
				texts = append(texts, string(block.JSON))
			case tool.ContentImage, tool.ContentAudio, tool.ContentResource:
				others = append(others, block)
			}
		}
	}
	// The name is one of a tool, or what the model wrote: it does not end the tag.
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>\"\n", r) {
			return '_'
		}
		return r
	}, c.Name)
	body := endings.Replace(strings.Join(texts, "\n"))
	block := fmt.Sprintf("<tool_response name=\"%s\"%s>\n%s\n</tool_response>", name, state, body)
	return append([]tool.Content{tool.Text(block)}, others...)
}

// endings keeps an answer from ending its block, or beginning a call.
var endings = strings.NewReplacer("<tool_", "<\\tool_", "</tool_", "<\\/tool_")
