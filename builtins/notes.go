package builtins

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

// noteTools describes the built-ins of a kind of note.
type noteTools struct {
	kind  space.NoteKind
	many  string // In the names of tools, and of the list of them.
	what  string // For the model.
	when  string // To set one, for the model.
	state bool   // Whether one can be done.
}

var (
	goals = noteTools{
		space.Goal, "goals", "Goals are what you are to reach.",
		"Use it when you are given one, and when you reached one; not for steps, which are plans.", true,
	}
	memories = noteTools{
		space.Memory, "memories", "Memories are facts to keep.",
		"Use it for what will matter in later runs, not for what documents or tools answer.", false,
	}
	plans = noteTools{
		space.Plan, "plans", "Plans are how you go about it.",
		"Use it before work of several steps, and when a step is done; not for a single step.", true,
	}
)

const setNotesOutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["set"],
  "properties": {"set": {"type": "integer", "description": "How many were set."}}
}`

const deleteNotesOutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["deleted"],
  "properties": {"deleted": {"type": "array", "items": {"type": "string"}, "description": "Keys of those that are gone."}}
}`

const getPlansOutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["plans"],
  "properties": {
    "plans": {
      "type": "array",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["key", "text"],
        "properties": {"key": {"type": "string"}, "text": {"type": "string"}, "done": {"type": "boolean"}}
      }
    }
  }
}`

// kept is what every description of these tools says.
const kept = " You keep them from run to run, in every space, and are shown them at each turn."

type noteInput struct {
	Key  string `json:"key"`
	Text string `json:"text"`
	Done bool   `json:"done,omitempty"`
}

// setSchema is the input schema of a tool that sets notes.
func (n noteTools) setSchema() string {
	done := ""
	if n.state {
		done = `,
          "done": {"type": "boolean", "default": false}`
	}
	return fmt.Sprintf(`{
  "type": "object",
  "additionalProperties": false,
  "required": [%q],
  "properties": {
    %q: {
      "type": "array", "minItems": 1, "maxItems": 20, "description": "Those to create or change; others stay.",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["key", "text"],
        "properties": {
          "key": {"type": "string", "minLength": 1, "maxLength": %d, "description": "Your name for it. A known one is replaced."},
          "text": {"type": "string", "minLength": 1, "maxLength": %d}%s
        }
      }
    }
  }
}`, n.many, n.many, space.MaxNoteKey, space.MaxNote, done)
}

// setNotes creates and changes notes of the run's agent.
func setNotes(s Spaces, n noteTools) Builtin {
	return spaceTool(
		"set_"+n.many, "Set "+n.many, "Creates or changes "+n.many+" of yours. "+n.what+kept+" "+n.when,
		n.setSchema(), setNotesOutputSchema, false,
		func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			var in map[string][]noteInput
			if err := json.Unmarshal(call.Arguments, &in); err != nil {
				return nil, &tool.Error{
					Kind: tool.Invalid, Op: "builtins.Execute", Msg: "the arguments do not match the tool's input schema", Err: err,
				}
			}
			notes := make([]space.Note, len(in[n.many]))
			for i, v := range in[n.many] {
				notes[i] = space.Note{Kind: n.kind, Key: v.Key, Text: v.Text, Done: v.Done && n.state}
			}
			if err := space.CheckNotes(notes); err != nil {
				return refused(err)
			}
			if err := s.SetNotes(ctx, call.Principal.Tenant, call.AgentID, notes); err != nil {
				return refused(err)
			}
			return answers(map[string]int{"set": len(notes)})
		})
}

// deleteNotes deletes notes of the run's agent.
func deleteNotes(s Spaces, n noteTools) Builtin {
	return spaceTool("delete_"+n.many, "Delete "+n.many, "Deletes "+n.many+" of yours by their keys. Use it for those "+
		"that do not count any more; to change one, set it instead.", fmt.Sprintf(`{
  "type": "object",
  "additionalProperties": false,
  "required": ["keys"],
  "properties": {
    "keys": {"type": "array", "minItems": 1, "maxItems": %d, "description": "Keys of those to delete.", "items": {"type": "string", "minLength": 1, "maxLength": %d}}
  }
}`, space.MaxNotes, space.MaxNoteKey), deleteNotesOutputSchema, false,
		func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			var in struct {
				Keys []string `json:"keys"`
			}
			if err := decodeArguments(call.Arguments, &in); err != nil {
				return nil, err
			}
			gone, err := s.DeleteNotes(ctx, call.Principal.Tenant, call.AgentID, n.kind, in.Keys)
			if err != nil {
				return refused(err)
			}
			if len(gone) == 0 {
				return tool.ErrorResult("you have none with the keys " + tool.Clip(strings.Join(in.Keys, ", "), 200)), nil
			}
			return answers(map[string][]string{"deleted": gone})
		})
}

// getPlans reads the plans of the run's agent.
func getPlans(s Spaces) Builtin {
	return spaceTool("get_plans", "Get plans",
		"Reads all of your plans. Use it when you were not shown all of them, or before you change many; you are shown "+
			"them at each turn, as far as there is room.",
		noInput, getPlansOutputSchema, true,
		func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			notes, err := s.ListNotes(ctx, call.Principal.Tenant, call.AgentID, space.Plan)
			if err != nil {
				return refused(err)
			}
			out := make([]noteInput, len(notes))
			for i, n := range notes {
				out[i] = noteInput{Key: n.Key, Text: n.Text, Done: n.Done}
			}
			return answers(map[string][]noteInput{"plans": out})
		})
}
