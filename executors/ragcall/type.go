package ragcall

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Type describes rag_retrieval tools. The searcher is nil in a process that only
// validates definitions.
func Type(searcher retrieval.Searcher) executors.Type {
	t := executors.Type{
		Traits:      tool.Traits{Implementation: tool.RAGRetrieval, Quick: true},
		Executor:    New(searcher),
		CheckConfig: func(config, _ json.RawMessage) error { return CheckConfig(config) },
	}
	if searcher != nil {
		t.Secret = func(ctx context.Context, aim wait.Aim) (bool, error) {
			return usesCredential(ctx, searcher, aim)
		}
	}
	return t
}

// knower is a searcher that knows the credentials of pipelines.
type knower interface {
	// UsesCredential reports whether searches in a pipeline of a tenant may send a credential.
	UsesCredential(ctx context.Context, tenant tool.TenantID, pipeline string) (bool, error)
}

// usesCredential reports whether the pipeline of a tool has a credential now. One of a searcher that does
// not say may have one.
func usesCredential(ctx context.Context, searcher retrieval.Searcher, aim wait.Aim) (bool, error) {
	of, ok := searcher.(knower)
	if !ok {
		return true, nil
	}
	config, err := readConfig(aim.Config)
	if err != nil {
		return true, err
	}
	uses, err := of.UsesCredential(ctx, aim.Tenant, config.Target())
	if err != nil {
		return true, fmt.Errorf("finding the credential of the pipeline: %w", err)
	}
	return uses, nil
}
