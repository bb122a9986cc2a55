// Package ragcall runs tools of the type rag_retrieval: a search in a pipeline of
// the calling tenant, answered with the passages and how to cite them.
package ragcall

import (
	"context"
	"encoding/json"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/ask"
	"github.com/toolcrib/toolcrib/tool"
)

// Executor runs rag_retrieval tools. It is safe for concurrent use.
type Executor struct {
	searcher retrieval.Searcher
}

// New returns an executor that asks searcher.
func New(searcher retrieval.Searcher) *Executor { return &Executor{searcher: searcher} }

// Execute implements [tool.Executor]. The argument query is what is sought; limit
// and filter are heard where a call has them. Nothing found is an answer. A
// pipeline that the caller's tenant has not, or has no more, is [tool.NotFound],
// whatever was published.
func (e *Executor) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	config, err := readConfig(call.Version.Snapshot.Config)
	if err != nil {
		return nil, err
	}
	return ask.Run(ctx, e.searcher, config, call) //nolint:wrapcheck // A *tool.Error already.
}

func readConfig(raw json.RawMessage) (*ask.Config, error) {
	err := ask.CheckConfig(raw)
	if err == nil {
		return ask.ReadConfig(raw) //nolint:wrapcheck // It was read before.
	}
	f := tool.AsError(err)
	return nil, &tool.Error{
		Kind: tool.Invalid, Op: "ragcall.Execute",
		Msg: "the tool's configuration is malformed at implementation_config" + f.Path + ": " + f.Msg, Err: err,
	}
}

// CheckConfig reports what is wrong with a rag_retrieval tool's configuration, as
// [tool.Invalid] with the JSON Pointer of the fault. Registries call it before
// they store one.
func CheckConfig(raw json.RawMessage) error { return ask.CheckConfig(raw) } //nolint:wrapcheck // A *tool.Error already.

// CheckConfig is the package's [CheckConfig], for registries that ask the
// executor of a type.
func (e *Executor) CheckConfig(raw json.RawMessage) error { return CheckConfig(raw) }
