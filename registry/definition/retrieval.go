package definition

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// retrievalBuiltin is the key of the built-in that searches pipelines.
const retrievalBuiltin = "retrieval_pipeline"

// PipelineOf returns the id or slug of the pipeline that a definition names, and
// the path of the field that names it; both are empty where it names none.
func PipelineOf(d *tool.Definition) (name, path string) {
	var c struct {
		Builtin    string `json:"builtin"`
		PipelineID string `json:"pipeline_id"`
		Pipeline   string `json:"pipeline"`
	}
	impl := d.ImplementationType()
	if impl != tool.RAGRetrieval && impl != tool.Internal || json.Unmarshal(d.Config, &c) != nil ||
		impl == tool.Internal && c.Builtin != retrievalBuiltin {
		return "", ""
	}
	if c.PipelineID == "" && c.Pipeline != "" {
		return c.Pipeline, "/implementation_config/pipeline"
	}
	return c.PipelineID, "/implementation_config/pipeline_id"
}

// checkRetrieval fails for a rag_retrieval tool without a pipeline, and adds query
// to its input and output schema (reference numbers S3-18 and S3-19).
func checkRetrieval(s *ToolSpec) (err error) {
	if s.Implementation != tool.RAGRetrieval {
		return nil
	}
	if name, _ := PipelineOf(&s.Definition); name == "" {
		return refusal.New(tool.Invalid, "/implementation_config/pipeline_id",
			"rag_retrieval requires a pipeline_id: the id or the slug of a pipeline")
	}
	if s.InputSchema, err = withQuery(s.InputSchema); err != nil {
		return refusal.Within("/input_schema", err)
	}
	if s.OutputSchema, err = withQuery(s.OutputSchema); err != nil {
		return refusal.Within("/output_schema", err)
	}
	return nil
}

// withQuery returns a schema with a required string property "query".
func withQuery(raw json.RawMessage) (json.RawMessage, error) {
	root := map[string]any{"type": "object"}
	if len(raw) > 0 {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&root); err != nil || root == nil {
			return nil, refusal.New(tool.Invalid, "", "expected an object")
		}
	}
	props, _ := root["properties"].(map[string]any)
	required, _ := root["required"].([]any)
	query, declared := props["query"]
	if of, _ := query.(map[string]any); declared && of["type"] != nil && of["type"] != "string" {
		return nil, refusal.New(tool.Invalid, "/properties/query/type", "query is what is searched for: expected a string")
	}
	if declared && slices.Contains(required, any("query")) {
		return raw, nil
	}
	if !declared {
		if props == nil {
			props = make(map[string]any)
		}
		props["query"] = map[string]any{"type": "string", "description": "What to search for."}
		root["properties"] = props
	}
	if !slices.Contains(required, any("query")) {
		root["required"] = append(required, "query")
	}
	out, err := json.Marshal(root)
	if err != nil {
		return nil, refusal.New(tool.Invalid, "", "expected an object")
	}
	return out, nil
}
