package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// Config is the implementation_config of a tool that searches a pipeline.
type Config struct {
	// Type may repeat the implementation type.
	Type tool.Implementation `json:"type,omitempty"`
	// Builtin is the built-in of a tenant's own tool; empty for rag_retrieval.
	Builtin string `json:"builtin,omitempty"`
	// PipelineID is the pipeline's id or slug. Required for rag_retrieval.
	PipelineID string `json:"pipeline_id,omitempty"`
	// Pipeline is an alias of PipelineID: set one of them.
	Pipeline string `json:"pipeline,omitempty"`
	// Limit is the default number of passages; [retrieval.DefaultLimit] when zero, at most
	// [retrieval.MaxLimit].
	Limit int `json:"limit,omitempty"`
	// Mode is the search mode; the pipeline's when empty.
	Mode retrieval.Mode `json:"mode,omitempty"`
	// Filter is a filter on documents, in addition to the call's. See [retrieval.Filter].
	Filter json.RawMessage `json:"filter,omitempty"`
	// MinScore excludes passages with a lower score.
	MinScore float64 `json:"min_score,omitempty"`

	filter retrieval.Filter
}

// Target returns the pipeline's id or slug in the configuration; empty for none.
func (c *Config) Target() string { return c.PipelineID + c.Pipeline }

// ReadConfig parses and checks a configuration; an empty one is allowed. It fails with
// [tool.Invalid] and the JSON Pointer of the fault.
func ReadConfig(raw json.RawMessage) (*Config, error) {
	c := &Config{}
	err := strict.Decode("ask.CheckConfig", raw, c)
	if errors.Is(err, io.EOF) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	if c.filter, err = retrieval.ParseFilter("/filter", c.Filter); err != nil {
		return nil, err
	}
	return c, c.check()
}

// CheckConfig checks the configuration of a rag_retrieval tool. The registry checks that its tenant
// has the pipeline.
func CheckConfig(raw json.RawMessage) error {
	c, err := ReadConfig(raw)
	switch {
	case err != nil:
		return err
	case c.Type != "" && c.Type != tool.RAGRetrieval:
		return fault("/type", fmt.Sprintf("%.40q is not rag_retrieval", c.Type))
	case c.Builtin != "":
		return fault("/builtin", "a rag_retrieval tool runs no built-in")
	case c.Target() == "":
		return fault("/pipeline_id", "rag_retrieval requires a pipeline_id: the id or the slug of a pipeline")
	}
	return nil
}

func (c *Config) check() error {
	switch {
	case c.PipelineID != "" && c.Pipeline != "":
		return fault("/pipeline", "pipeline is an alias of pipeline_id: set one of them")
	case !validName(c.PipelineID):
		return fault("/pipeline_id", fmt.Sprintf("%.80q is neither an id nor a slug", c.PipelineID))
	case !validName(c.Pipeline):
		return fault("/pipeline", fmt.Sprintf("%.80q is neither an id nor a slug", c.Pipeline))
	case c.Limit < 0 || c.Limit > retrieval.MaxLimit:
		return fault(
			"/limit",
			fmt.Sprintf("limit is %d: want 1 to %d, or 0 for %d", c.Limit, retrieval.MaxLimit, retrieval.DefaultLimit),
		)
	case c.Mode != "" && !slices.Contains(retrieval.Modes(), c.Mode):
		return fault("/mode", fmt.Sprintf("mode %.40q is unknown: want full_text, vector or hybrid", string(c.Mode)))
	case math.IsNaN(c.MinScore) || c.MinScore < 0:
		return fault("/min_score", "want 0 or more")
	}
	return nil
}

func validName(s string) bool { return s == "" || tool.ValidID(s) || tool.ValidSlug(s) }

func fault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "ask.CheckConfig", Path: path, Msg: msg}
}
