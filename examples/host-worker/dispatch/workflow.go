package dispatch

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/workflows"
)

// Names of the team's own workflow and activities.
const (
	Workflow      = "warehouse.Dispatch"
	weighActivity = "warehouse.Weigh"
	labelActivity = "warehouse.Label"
)

// CarrierTool is the tool that the workflow calls: any published 1.x of it,
// pinned to one version when the call is made.
const CarrierTool = "quoteShipping@^1.0"

// Dispatcher is the team's workflow with what it is configured with.
type Dispatcher struct {
	// Principal is who the tool is called for. Its tenant is required.
	Principal tool.Principal
}

// Register registers the workflow and its activities with a worker.
func (d Dispatcher) Register(r sdkworker.Registry) {
	r.RegisterWorkflowWithOptions(d.Dispatch, workflow.RegisterOptions{Name: Workflow})
	r.RegisterActivityWithOptions(Weigh, activity.RegisterOptions{Name: weighActivity})
	r.RegisterActivityWithOptions(Label, activity.RegisterOptions{Name: labelActivity})
}

// Dispatch weighs a parcel, asks the carrier what it costs, and prints a label
// for the cheapest service.
func (d Dispatcher) Dispatch(ctx workflow.Context, p Parcel) (Booking, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	booking := Booking{ParcelID: p.ID}
	if err := workflow.ExecuteActivity(ctx, weighActivity, p).Get(ctx, &booking.WeightGrams); err != nil {
		return booking, fmt.Errorf("weighing: %w", err)
	}
	// The tool node. How often it is tried, and how long it may take, its
	// published version says.
	result, err := workflows.Execute(ctx, workflows.Node{
		ID: "quote", Tool: CarrierTool, Principal: d.Principal,
		Arguments: map[string]any{"country": p.Country, "weight_grams": booking.WeightGrams},
	})
	if err != nil {
		return booking, err
	}
	if err := booking.choose(result); err != nil {
		return booking, err
	}
	return booking, workflow.ExecuteActivity(ctx, labelActivity, booking).Get(ctx, nil)
}

// choose takes the first quote: the carrier names the cheapest first.
func (b *Booking) choose(result *tool.Result) error {
	var answer struct {
		Quotes []struct {
			Service    string `json:"service"`
			PriceCents int    `json:"price_cents"`
			Days       int    `json:"days"`
		} `json:"quotes"`
	}
	if err := result.Decode(&answer); err != nil { // The carrier may have answered "no".
		return workflows.Failure(fmt.Errorf("asking the carrier: %w", err))
	}
	if len(answer.Quotes) == 0 {
		return workflows.Failure(&tool.Error{Kind: tool.NotFound, Op: Workflow, Msg: "the carrier quotes nothing"})
	}
	first := answer.Quotes[0]
	b.Service, b.PriceCents, b.Days = first.Service, first.PriceCents, first.Days
	return nil
}
