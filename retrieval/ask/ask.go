package ask

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// InputSchema is the schema of a tool whose callers may limit and filter the search. A tool may use
// a part of it: only query is required.
const InputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["query"],
  "properties": {
    "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "What to search for, in words or as a question."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many passages to return."},
    "filter": {"type": "object", "description": "What the documents' metadata must fulfil, by field: a value, {\"in\": [values]}, {\"gte\": value, \"lte\": value} or {\"exists\": true}."}
  }
}`

// AnyPipelineSchema is the schema of a tool whose callers also choose the pipeline.
const AnyPipelineSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["pipeline", "query"],
  "properties": {
    "pipeline": {"type": "string", "minLength": 1, "maxLength": 64, "description": "The slug or id of the pipeline to search."},
    "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "What to search for, in words or as a question."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many passages to return."},
    "filter": {"type": "object", "description": "What the documents' metadata must fulfil, by field: a value, {\"in\": [values]}, {\"gte\": value, \"lte\": value} or {\"exists\": true}."}
  }
}`

// OutputSchema is the schema of every result.
const OutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["query", "pipeline", "mode", "hits"],
  "properties": {
    "query": {"type": "string"},
    "pipeline": {"type": "string", "description": "The slug of the pipeline that was searched."},
    "mode": {"enum": ["full_text", "vector", "hybrid"]},
    "hits": {
      "type": "array",
      "description": "The passages that were found, the best first.",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["text", "title", "source", "headings", "citation", "score", "document_id", "document_key", "chunk_id", "start", "end", "metadata"],
        "properties": {
          "text": {"type": "string"},
          "title": {"type": "string"},
          "source": {"type": "string"},
          "headings": {"type": "array", "items": {"type": "string"}},
          "citation": {"type": "string", "description": "A line to cite the passage by."},
          "score": {"type": "number"},
          "document_id": {"type": "string"},
          "document_key": {"type": "string"},
          "chunk_id": {"type": "string"},
          "start": {"type": "integer"},
          "end": {"type": "integer"},
          "page": {"type": "integer"},
          "metadata": {"type": "object"}
        }
      }
    },
    "omitted": {"type": "integer", "description": "How many passages were found and left out, because the answer would be too long."}
  }
}`

// arguments are the arguments used here. Others are ignored.
type arguments struct {
	Pipeline string          `json:"pipeline"`
	Query    string          `json:"query"`
	Limit    int             `json:"limit"`
	Filter   json.RawMessage `json:"filter"`
}

// Run searches the pipeline in the configuration or, if it has none, in the call's arguments, for
// the call's tenant. It fails like [retrieval.Searcher.Search]: another tenant's pipeline is not
// found.
func Run(ctx context.Context, searcher retrieval.Searcher, c *Config, call *tool.Call) (*tool.Result, error) {
	const op = "ask.Run"
	var in arguments
	if raw := bytes.TrimSpace(call.Arguments); len(raw) > 0 {
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "the arguments do not match the input schema", Err: err}
		}
	}
	name := cmp.Or(c.Target(), in.Pipeline)
	if name == "" {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: op, Path: "/pipeline", Msg: "want the slug or id of the pipeline to search",
		}
	}
	filter, err := retrieval.ParseFilter("/filter", in.Filter)
	if err != nil {
		return nil, err
	}
	q := retrieval.Query{
		Text: in.Query, Limit: cmp.Or(in.Limit, c.Limit), Mode: c.Mode, Filter: slices.Concat(c.filter, filter),
		MinScore: c.MinScore,
		Local:    call.Egress == tool.EgressNone,
	}
	answer, err := searcher.Search(ctx, call.Principal.Tenant, name, q)
	if err != nil {
		return nil, err
	}
	return result(in.Query, answer)
}
