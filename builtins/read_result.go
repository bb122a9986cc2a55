package builtins

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// Invocations finds the calls of a tenant. Package store implements it.
type Invocations interface {
	FindInvocation(ctx context.Context, tenant tool.TenantID, id string) (tool.Invocation, error)
	// FindLateResult returns a result that came to the inbox of a run, and the limit of what the run is shown of it;
	// zero for none of its own. It fails with tool.NotFound where none came.
	FindLateResult(ctx context.Context, tenant tool.TenantID, runID, id string) (*tool.Result, int, error)
}

const (
	// maxResultPart bounds a part of a result, in bytes.
	maxResultPart = 16 << 10
	// maxResultPartJSON bounds it as JSON, which may need six bytes for one.
	maxResultPartJSON = 48 << 10
	defaultResultPart = 8 << 10
	// maxMatches and maxMatch bound what a search finds: matches, and the bytes around each.
	maxMatches = 20
	maxMatch   = 200
)

const readResultInputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["invocation_id"],
  "properties": {
    "invocation_id": {"type": "string", "minLength": 36, "maxLength": 36,
      "description": "The call whose result to read, as its preview names it."},
    "pointer": {"type": "string", "maxLength": 1000,
      "description": "A JSON Pointer, such as /items/3: reads that value of a structured result only."},
    "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "Where to begin, in bytes."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 16384, "description": "How many bytes to read: 8192 by default."},
    "line": {"type": "integer", "minimum": 0, "description": "Begins that many lines after the offset."},
    "lines": {"type": "integer", "minimum": 1, "description": "How many lines to read, and at most 16384 bytes."},
    "search": {"type": "string", "minLength": 1, "maxLength": 200,
      "description": "Finds this text, in any case, from the offset on, instead of reading."}
  }
}`

const readResultOutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["total_bytes", "total_lines"],
  "properties": {
    "text": {"type": "string"},
    "next_offset": {"type": "integer", "description": "The offset to continue from; absent at the end."},
    "total_bytes": {"type": "integer"},
    "total_lines": {"type": "integer"},
    "matches": {"type": "array", "items": {
      "type": "object",
      "additionalProperties": false,
      "required": ["offset", "line", "text"],
      "properties": {
        "offset": {"type": "integer", "description": "The offset of the match."},
        "line": {"type": "integer", "description": "Its line, counted from 0."},
        "text": {"type": "string", "description": "What is around the match."}
      }
    }}
  }
}`

type readResultInput struct {
	InvocationID string `json:"invocation_id"`
	Pointer      string `json:"pointer"`
	Offset       int    `json:"offset"`
	Limit        int    `json:"limit"`
	Line         int    `json:"line"`
	Lines        int    `json:"lines"`
	Search       string `json:"search"`
}

type readResultOutput struct {
	Text       string        `json:"text,omitempty"`
	NextOffset *int          `json:"next_offset,omitempty"`
	TotalBytes int           `json:"total_bytes"`
	TotalLines int           `json:"total_lines"`
	Matches    []resultMatch `json:"matches,omitempty"`
}

type resultMatch struct {
	Offset int    `json:"offset"`
	Line   int    `json:"line"`
	Text   string `json:"text"`
}

// readResult reads a result of the caller's run by parts: models are shown a preview of large
// ones. Results of other runs are not found.
func readResult(calls Invocations) Builtin {
	return Builtin{
		Spec: Spec{
			Key: tool.ReadResult, Version: "1.0.1",
			Definition: tool.Definition{
				Name: "Read result",
				Description: "Reads a part of the result of an earlier call of this run, which was too large to be shown: by " +
					"bytes or lines, by JSON Pointer, or by searching for a text. Use it when a preview lacks what you need: " +
					"search first, and read only the parts around what was found. Do not make the earlier call again instead.",
				Category:       "results",
				InputSchema:    json.RawMessage(readResultInputSchema),
				OutputSchema:   json.RawMessage(readResultOutputSchema),
				Implementation: tool.Internal,
				Execution: tool.Execution{
					Pure: true, MaxConcurrency: tool.ReadConcurrency, ConcurrencyGroup: tool.ReadResult, TimeoutSeconds: 10,
				},
			},
			Policy: tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto},
		},
		Run: func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			var in readResultInput
			if err := decodeArguments(call.Arguments, &in); err != nil {
				return nil, err
			}
			found, err := resultToRead(ctx, calls, call, in.InvocationID)
			if err != nil {
				return nil, err
			}
			if found.Output == nil {
				return tool.ErrorResult(fmt.Sprintf("the call has no result: it is %s", found.Status)), nil
			}
			text, refusal := in.selected(found.Output)
			if refusal != "" {
				return tool.ErrorResult(refusal), nil
			}
			raw, err := json.Marshal(in.read(text, cmp.Or(found.InlineBytes, maxResultPart)))
			if err != nil {
				return nil, fmt.Errorf("encoding the part: %w", err)
			}
			return tool.JSONResult(raw), nil
		},
	}
}

// resultToRead returns a call of the run with its result, or with the one that came to the run's inbox after it: the
// call may be of a run below, and what it ended with was shown whole.
func resultToRead(ctx context.Context, calls Invocations, call *tool.Call, id string) (tool.Invocation, error) {
	found, err := calls.FindInvocation(ctx, call.Principal.Tenant, id)
	unknown := err == nil && (call.RunID == "" || found.RunID != call.RunID) || tool.KindOf(err) == tool.NotFound
	if err != nil && !unknown {
		return found, fmt.Errorf("finding the call: %w", err)
	}
	limit := cmp.Or(found.InlineBytes, tool.MaxInlineResult)
	if !unknown && found.Output != nil && tool.Exceeds(found.Output.Content, limit) {
		return found, nil
	}
	late, limit, err := calls.FindLateResult(ctx, call.Principal.Tenant, call.RunID, id)
	switch {
	case err == nil:
		found.Output, found.InlineBytes = late, limit
	case tool.KindOf(err) != tool.NotFound:
		return found, fmt.Errorf("finding a late result: %w", err)
	case unknown:
		return found, &tool.Error{Kind: tool.NotFound, Op: "builtins.Execute", Msg: "this run has no call " + id}
	}
	return found, nil
}

// selected returns the text to read, or why there is none.
func (in *readResultInput) selected(result *tool.Result) (text, refusal string) {
	if in.Pointer == "" {
		return tool.ReadableText(result.Content), ""
	}
	pointer, err := jsonpointer.Parse(in.Pointer)
	if err != nil {
		return "", "the pointer is no JSON Pointer: " + tool.AsError(err).Msg
	}
	structured := result.Structured
	for _, c := range result.Content {
		if len(structured) == 0 {
			structured = c.JSON
		}
	}
	if len(structured) == 0 {
		return "", "the result is not structured: leave pointer out"
	}
	value, ok := jsonpointer.NewValue(structured).Find(pointer)
	if !ok {
		return "", "the result has no value at " + in.Pointer
	}
	var plain *string
	if json.Unmarshal(value, &plain) == nil && plain != nil {
		return *plain, ""
	}
	return tool.ReadableJSON(value), ""
}

// read returns the part that is asked for, of most bytes at most. Matches have as many together.
func (in *readResultInput) read(text string, most int) readResultOutput {
	most = min(most, maxResultPart)
	out := readResultOutput{TotalBytes: len(text), TotalLines: tool.Lines(text)}
	offset := min(in.Offset, len(text))
	offset += lineOffset(text[offset:], in.Line)
	if in.Search != "" {
		return in.find(text, offset, most, out)
	}
	limit := cmp.Or(in.Limit, defaultResultPart)
	if in.Lines > 0 {
		limit = min(cmp.Or(in.Limit, maxResultPart), lineOffset(text[offset:], in.Lines))
	}
	from, to := tool.CutText(text, offset, min(limit, most))
	for fits := false; !fits; {
		raw, _ := json.Marshal(text[from:to]) // A string: it cannot fail.
		if fits = len(raw) <= maxResultPartJSON; !fits {
			from, to = tool.CutText(text, from, (to-from)/2)
		}
	}
	out.Text, out.NextOffset = text[from:to], next(text, to)
	return out
}

// find searches from an offset on, and shows most bytes of the text around matches.
func (in *readResultInput) find(text string, offset, most int, out readResultOutput) readResultOutput {
	search := regexp.MustCompile("(?i)" + regexp.QuoteMeta(in.Search))
	out.Matches = []resultMatch{}
	line, counted := 0, 0
	for _, at := range search.FindAllStringIndex(text[offset:], maxMatches+1) {
		begin, end := offset+at[0], offset+at[1]
		from, to := tool.CutText(text, begin-maxMatch, 2*maxMatch+end-begin)
		if most -= to - from; len(out.Matches) == maxMatches || most < 0 && len(out.Matches) > 0 {
			out.NextOffset = &begin
			break
		}
		line += strings.Count(text[counted:begin], "\n")
		counted = begin
		out.Matches = append(out.Matches, resultMatch{Offset: begin, Line: line, Text: text[from:to]})
	}
	return out
}

// next returns where to continue after a part, unless it is the last.
func next(text string, end int) *int {
	if end >= len(text) {
		return nil
	}
	return &end
}

// lineOffset returns the offset in bytes of a line, counted from 0.
func lineOffset(text string, line int) int {
	at := 0
	for range line {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			return len(text)
		}
		at += next + 1
	}
	return at
}
