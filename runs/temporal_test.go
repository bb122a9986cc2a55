package runs_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
)

// fakeTemporal keeps workflows in memory. Methods that package runs does not
// call panic.
type fakeTemporal struct {
	client.Client

	mu        sync.Mutex
	silent    bool  // Requests about workflows are never answered.
	down      error // If set, every request fails with it.
	lost      error // If set, a start fails with it after Temporal has the workflow.
	refusal   error // If set, Temporal refuses to start workflows with it.
	workflows map[string]workflow
	cancelled []string // Workflow ids.
	signals   []string // Workflow ids, with what they were sent.
	// updated are the Updates that were sent; refused answers them, if it is set.
	updated []client.UpdateWorkflowOptions
	refused error
}

func (f *fakeTemporal) UpdateWorkflow(
	_ context.Context, o client.UpdateWorkflowOptions,
) (client.WorkflowUpdateHandle, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return nil, f.down
	}
	f.updated = append(f.updated, o)
	return updateEnd{err: f.refused}, nil
}

// updateEnd is an Update that has ended.
type updateEnd struct {
	client.WorkflowUpdateHandle

	err error
}

func (u updateEnd) Get(context.Context, any) error { return u.err }

// workflow is an execution that a test ends by setting result or failure.
type workflow struct {
	name    string
	input   any
	memo    map[string]any
	fair    string // The fairness key.
	result  *tool.Result
	failure error
}

func (w workflow) status() enums.WorkflowExecutionStatus {
	if w.result == nil && w.failure == nil {
		return enums.WORKFLOW_EXECUTION_STATUS_RUNNING
	}
	return enums.WORKFLOW_EXECUTION_STATUS_COMPLETED
}

func (f *fakeTemporal) ExecuteWorkflow(
	_ context.Context, opts client.StartWorkflowOptions, name any, args ...any,
) (client.WorkflowRun, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := cmp.Or(f.down, f.refusal); err != nil {
		return nil, err
	}
	if _, ok := f.workflows[opts.ID]; ok {
		return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("already started", "", "")
	}
	f.workflows[opts.ID] = workflow{
		name: fmt.Sprint(name), input: args[0], memo: opts.Memo, fair: opts.Priority.FairnessKey,
	}
	return nil, f.lost
}

func (f *fakeTemporal) DescribeWorkflowExecution(
	ctx context.Context, id, _ string,
) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if f.silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	w, err := f.find(id)
	if err != nil {
		return nil, err
	}
	fields := map[string]*commonpb.Payload{}
	for name, value := range w.memo {
		if fields[name], err = converter.GetDefaultDataConverter().ToPayload(value); err != nil {
			return nil, err
		}
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
			Memo: &commonpb.Memo{Fields: fields}, Status: w.status(),
			Execution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: "execution"},
		},
	}, nil
}

func (f *fakeTemporal) CancelWorkflow(_ context.Context, id, _ string) error {
	_, err := f.find(id)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancelled = append(f.cancelled, id)
	return err
}

func (f *fakeTemporal) SignalWorkflow(_ context.Context, id, _, name string, arg any) error {
	if _, err := f.find(id); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signals = append(f.signals, fmt.Sprintf("%s %s %v", id, name, arg))
	return nil
}

func (f *fakeTemporal) GetWorkflow(_ context.Context, id, _ string) client.WorkflowRun {
	return handle{temporal: f, id: id}
}

func (f *fakeTemporal) find(id string) (workflow, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, ok := f.workflows[id]
	switch {
	case f.down != nil:
		return w, f.down
	case !ok:
		return w, serviceerror.NewNotFound("no such workflow")
	}
	return w, nil
}

// end ends a workflow.
func (f *fakeTemporal) end(id string, result *tool.Result, failed error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.workflows[id]
	w.result, w.failure = result, failed
	f.workflows[id] = w
}

// forget removes a workflow, as the end of its retention does.
func (f *fakeTemporal) forget(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.workflows, id)
}

// handle is how a client waits for a workflow.
type handle struct {
	client.WorkflowRun

	temporal *fakeTemporal
	id       string
}

func (h handle) Get(ctx context.Context, into any) error {
	w, err := h.temporal.find(h.id)
	switch {
	case err != nil:
		return err
	case w.failure != nil:
		return errors.Join(&temporal.WorkflowExecutionError{}, failure.EncodeFinal(w.failure))
	case w.result == nil: // It is open.
		<-ctx.Done()
		return ctx.Err()
	}
	out, ok := into.(**tool.Result)
	if !ok {
		return fmt.Errorf("the result of a call is read into %T", into)
	}
	*out = w.result
	return nil
}
