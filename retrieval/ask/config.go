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

// Config is the implementation_config of a tool that asks a pipeline.
type Config struct {
	// Type may repeat the implementation type.
	Type tool.Implementation `json:"type,omitempty"`
	// Builtin is the built-in that a tenant's own tool configures; empty for
	// rag_retrieval.
	Builtin string `json:"builtin,omitempty"`
	// PipelineID is the pipeline's id or slug. Required of rag_retrieval.
	PipelineID string `json:"pipeline_id,omitempty"`
	// Pipeline is the same by another name: either of the two.
	Pipeline string `json:"pipeline,omitempty"`
	// Limit is how many passages a call is given that asks for no number;
	// [retrieval.DefaultLimit] when zero, at most [retrieval.MaxLimit].
	Limit int `json:"limit,omitempty"`
	// Mode is how the pipeline is searched; its own when empty.
	Mode retrieval.Mode `json:"mode,omitempty"`
	// Filter is what documents must fulfil, beside what a call asks for. See
	// [retrieval.Filter].
	Filter json.RawMessage `json:"filter,omitempty"`
	// MinScore leaves out passages whose score is less.
	MinScore float64 `json:"min_score,omitempty"`

	filter retrieval.Filter
}

// Target returns the pipeline's id or slug, as the configuration has it; empty
// for none.
func (c *Config) Target() string { return c.PipelineID + c.Pipeline }

// ReadConfig reads a configuration and reports what is wrong with it, as
// [tool.Invalid] with the JSON Pointer of the fault. None is an empty one.
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
		return nil, err //nolint:wrapcheck // It has the path of the fault.
	}
	return c, c.check()
}

// CheckConfig judges the configuration of a rag_retrieval tool. Whether its
// tenant has the pipeline, registries ask.
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
		return fault("/pipeline", "pipeline and pipeline_id are the same thing: give one of them")
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
