package builtins

import (
	"context"

	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

const sendMessageSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["text"],
  "properties": {
    "text": {"type": "string", "minLength": 1, "maxLength": 16384, "description": "What to say."}
  }
}`

const sendMessageOutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["space", "seq", "woken"],
  "properties": {
    "space": {"type": "string", "description": "The slug of the space."},
    "seq": {"type": "integer", "description": "The number of the message in the space."},
    "woken": {"type": "integer", "description": "How many agents were woken."},
    "not_woken": {"type": "string", "description": "Why agents were not woken."}
  }
}`

// sendMessage posts a text to the space that a run is in, once for each call.
func sendMessage(s Spaces) Builtin {
	return spaceTool("send_message", "Send message",
		"Says something in the space that you are in. Use it for what others there need to know or do, and not to "+
			"think aloud: people and the other agents of the space read it, and the agents are woken.",
		sendMessageSchema, sendMessageOutputSchema, false,
		func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			var in struct {
				Text string `json:"text"`
			}
			if err := decodeArguments(call.Arguments, &in); err != nil {
				return nil, err
			}
			place, err := s.RunSpace(ctx, call.Principal.Tenant, call.RunID)
			if err != nil {
				return refused(err)
			}
			if place == nil {
				return notInSpace(), nil
			}
			p := space.Post{
				ID: call.InvocationID, SpaceID: place.ID, From: space.Member{Kind: space.Agent, Name: place.Agent},
				Principal: call.Principal, RunID: call.RunID, Hops: place.Hops + 1, Text: in.Text,
			}
			if err := p.Check(); err != nil {
				return refused(err)
			}
			posted, err := s.PostMessage(ctx, p)
			if err != nil {
				return refused(err)
			}
			return answers(struct {
				Space    string `json:"space"`
				Seq      int64  `json:"seq"`
				Woken    int    `json:"woken"`
				NotWoken string `json:"not_woken,omitempty"`
			}{place.Slug, posted.Message.Seq, posted.Woken, posted.Message.NotWoken})
		})
}

const readMessagesSchema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "offset": {"type": "integer", "minimum": 0, "maximum": 100000, "default": 0, "description": "How many of the newest messages to pass over."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 20, "description": "How many messages to read."}
  }
}`

const readMessagesOutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["space", "messages", "more"],
  "properties": {
    "space": {"type": "string", "description": "The slug of the space."},
    "messages": ` + messagesSchema + `,
    "more": {"type": "boolean", "description": "Whether there are older ones."}
  }
}`

// readMessages reads messages of the space that a run is in.
func readMessages(s Spaces) Builtin {
	b := spaceTool("read_messages", "Read messages",
		"Reads messages of the space that you are in: the newest, or with an offset older ones. Use it when you need "+
			"more than enter_space showed, not to wait for an answer: you are woken by one. They are answered oldest first.",
		readMessagesSchema, readMessagesOutputSchema, true,
		func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			in := struct {
				Offset int `json:"offset"`
				Limit  int `json:"limit"`
			}{Limit: historyOnEntry}
			if err := decodeArguments(call.Arguments, &in); err != nil {
				return nil, err
			}
			place, err := s.RunSpace(ctx, call.Principal.Tenant, call.RunID)
			if err != nil {
				return refused(err)
			}
			if place == nil {
				return notInSpace(), nil
			}
			messages, err := s.ListSpaceMessages(ctx, space.MessageQuery{
				Tenant: call.Principal.Tenant, SpaceID: place.ID, Offset: in.Offset, Limit: in.Limit + 1,
			})
			if err != nil {
				return refused(err)
			}
			more := len(messages) > in.Limit
			if more {
				messages = messages[:in.Limit]
			}
			return answers(struct {
				Space    string        `json:"space"`
				Messages []messageView `json:"messages"`
				More     bool          `json:"more"` // Older ones.
			}{place.Slug, viewMessages(messages, in.Offset), more})
		})
	b.Untrusted = true // Others wrote them.
	return b
}

const skipOutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["skipped"],
  "properties": {"skipped": {"type": "boolean"}}
}`

// skip ends a run that has nothing to do, without a message: the run's machine sees to that
// (package loop).
func skip() Builtin {
	return spaceTool("skip", "Skip",
		"Ends your work for now without saying anything. Call it alone, and only when there is nothing to do or say.",
		noInput, skipOutputSchema, true,
		func(context.Context, *tool.Call) (*tool.Result, error) {
			return answers(map[string]bool{"skipped": true})
		})
}
