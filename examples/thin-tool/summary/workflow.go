package summary

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/workflows"
)

// Names of the application's workflows.
const (
	FillWorkflow     = "consulting.FillSummary"
	GenerateWorkflow = "consulting.GenerateSummary"
)

// FillInput is what [Fill] is started with.
type FillInput struct {
	Principal tool.Principal `json:"principal"`
	SummaryID string         `json:"summary_id"`
}

// GenerateInput is what [CallGenerate] is started with.
type GenerateInput struct {
	Principal tool.Principal `json:"principal"`
	Input     Input          `json:"input"`
}

// Register registers the workflows with a worker.
func Register(r sdkworker.Registry) {
	r.RegisterWorkflowWithOptions(Fill, workflow.RegisterOptions{Name: FillWorkflow})
	r.RegisterWorkflowWithOptions(CallGenerate, workflow.RegisterOptions{Name: GenerateWorkflow})
}

// Fill calls the graph that fills a summary. The graph says on the record why it failed; where it
// could not begin, or was stopped, this does.
func Fill(ctx workflow.Context, in FillInput) error {
	_, err := workflows.Execute(ctx, workflows.Node{
		ID: "fill", Tool: "fillExecutiveSummary@^1.0", Principal: in.Principal,
		Arguments: Target{SummaryID: in.SummaryID},
	})
	if err == nil {
		return nil
	}
	reason := err.Error()
	if failed, ok := errors.AsType[*tool.Error](err); ok {
		reason = failed.Msg
	}
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	_, failing := workflows.Execute(ctx, workflows.Node{
		ID: "fail", Tool: "failSummary@^1.0", Principal: in.Principal,
		Arguments: Target{SummaryID: in.SummaryID, Reason: reason},
	})
	if failing != nil {
		return failing
	}
	return err
}

// CallGenerate calls the thin tool, as an agent or a person would through the API.
func CallGenerate(ctx workflow.Context, in GenerateInput) (Answer, error) {
	result, err := workflows.Execute(ctx, workflows.Node{
		ID: "generate", Tool: "generateExecutiveSummary@^1.0", Principal: in.Principal, Arguments: in.Input,
	})
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	answered := *result
	answered.IsError = false // A refusal is an answer too.
	return a, workflows.Failure(answered.Decode(&a))
}

// FillWith returns what [App.Fill] is with Temporal: it starts [Fill], once for each summary.
func FillWith(c client.Client, taskQueue string) func(context.Context, Summary, tool.Principal) error {
	return func(ctx context.Context, s Summary, p tool.Principal) error {
		_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: "consulting/" + s.ID, TaskQueue: taskQueue,
			WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
			WorkflowExecutionErrorWhenAlreadyStarted: true,
		}, FillWorkflow, FillInput{Principal: p, SummaryID: s.ID})
		if _, again := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); again {
			return nil
		}
		return err
	}
}
