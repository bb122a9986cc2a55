// Package ingesttest ingests documents without Temporal, for tests of the
// layers above ingestion.
package ingesttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/ingest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Clerk stands for Temporal and its workers: what is to be ingested or embedded,
// it does on the spot. It is safe for concurrent use.
type Clerk struct {
	client.Client // For everything else.

	ingester *ingest.Ingester

	mu      sync.Mutex
	started []string
	away    error
}

// New returns a clerk that works by an ingester.
func New(temporal client.Client, ingester *ingest.Ingester) *Clerk {
	return &Clerk{Client: temporal, ingester: ingester}
}

// Leave makes the start of workflows fail; nil takes that back.
func (c *Clerk) Leave(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = err
}

// Started returns the ids of the workflows that were started.
func (c *Clerk) Started() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.started)
}

// ExecuteWorkflow implements [client.Client] for the workflows of retrieval.
func (c *Clerk) ExecuteWorkflow(
	ctx context.Context, o client.StartWorkflowOptions, workflow any, args ...any,
) (client.WorkflowRun, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away != nil {
		return nil, c.away
	}
	c.started = append(c.started, o.ID)
	input, ok := args[0].(json.RawMessage)
	if !ok {
		return nil, fmt.Errorf("the input of %s is no JSON", o.ID)
	}
	switch workflow {
	case wire.IngestWorkflow:
		var in wire.IngestInput
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, fmt.Errorf("reading the input of %s: %w", o.ID, err)
		}
		ref := retrieval.DocumentRef{Tenant: in.Tenant, Document: in.DocumentID, Version: in.Version}
		if err := Bring(ctx, c.ingester, ref); err != nil {
			return nil, c.ingester.Fail(ctx, ref, tool.AsError(err).Msg)
		}
		return nil, nil
	case wire.ReembedWorkflow:
		var in wire.ReembedInput
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, fmt.Errorf("reading the input of %s: %w", o.ID, err)
		}
		ref := retrieval.GenerationRef{Tenant: in.Tenant, Pipeline: in.PipelineID, Generation: in.Generation}
		if err := Change(ctx, c.ingester, ref); err != nil {
			return nil, c.ingester.Drop(ctx, ref, tool.AsError(err).Msg)
		}
		return nil, nil
	default:
		return nil, fmt.Errorf("nobody does %s", o.ID)
	}
}

// DescribeWorkflowExecution implements [client.Client]: it remembers no execution.
func (c *Clerk) DescribeWorkflowExecution(
	context.Context, string, string,
) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, started := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](c.away); c.away != nil && !started {
		return nil, c.away
	}
	return nil, serviceerror.NewNotFound("no execution")
}

// Bring ingests one document.
func Bring(ctx context.Context, i *ingest.Ingester, ref retrieval.DocumentRef) error {
	prepared, err := i.Prepare(ctx, ref)
	if err != nil {
		return fmt.Errorf("preparing: %w", err)
	}
	for _, generation := range prepared.Generations {
		for state := ingest.Working; state == ingest.Working; {
			slice, err := i.Embed(ctx, ref, generation, func(int) {})
			if err != nil {
				return fmt.Errorf("embedding: %w", err)
			}
			state = slice.State
		}
	}
	if _, err := i.Finish(ctx, ref); err != nil {
		return fmt.Errorf("finishing: %w", err)
	}
	return nil
}

// Change brings a pipeline to another model.
func Change(ctx context.Context, i *ingest.Ingester, ref retrieval.GenerationRef) error {
	for state := ingest.Working; state == ingest.Working; {
		slice, err := i.EmbedGeneration(ctx, ref, func(int) {})
		if err != nil {
			return fmt.Errorf("embedding: %w", err)
		}
		state = slice.State
	}
	if _, err := i.Promote(ctx, ref); err != nil {
		return fmt.Errorf("promoting: %w", err)
	}
	return nil
}
