// Package ragcall runs tools of the type rag_retrieval: a search in a pipeline of
// the calling tenant, which returns passages and their citations.
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

// New returns an executor over searcher.
func New(searcher retrieval.Searcher) *Executor { return &Executor{searcher: searcher} }

// Execute implements [tool.Executor]. It takes the arguments query, limit and
// filter. No match is not an error. A pipeline that the caller's tenant does not
// have, or no longer has, is [tool.NotFound].
func (e *Executor) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	config, err := readConfig(call.Version.Snapshot.Config)
	if err != nil {
		return nil, err
	}
	return ask.Run(ctx, e.searcher, config, call)
}

func readConfig(raw json.RawMessage) (*ask.Config, error) {
	err := ask.CheckConfig(raw)
	if err == nil {
		return ask.ReadConfig(raw)
	}
	f := tool.AsError(err)
	return nil, &tool.Error{
		Kind: tool.Invalid, Op: "ragcall.Execute",
		Msg: "the tool's configuration is malformed at implementation_config" + f.Path + ": " + f.Msg, Err: err,
	}
}

// CheckConfig checks a rag_retrieval tool's configuration. It fails with
// [tool.Invalid] and the JSON Pointer of the fault. Registries call it before they
// store one.
func CheckConfig(raw json.RawMessage) error { return ask.CheckConfig(raw) }

// CheckConfig is the package's [CheckConfig], for registries that call a type's
// executor.
func (e *Executor) CheckConfig(raw json.RawMessage) error { return CheckConfig(raw) }
