package dispatch_test

import (
	"fmt"
	"log/slog"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"github.com/toolcrib/toolcrib/examples/host-worker/dispatch"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolcribtest"
)

// The team's workflow is tested without a platform: package toolcribtest answers
// for the carrier.
func ExampleDispatcher() {
	suite := new(testsuite.WorkflowTestSuite)
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	d := dispatch.Dispatcher{Principal: tool.Principal{Tenant: "acme", Subject: "service:warehouse"}}
	d.Register(env)
	toolcribtest.New(env).Answer("quoteShipping", map[string]any{
		"quotes": []map[string]any{{"service": "standard", "price_cents": 590, "days": 3}},
	})

	env.ExecuteWorkflow(dispatch.Workflow, dispatch.Parcel{ID: "P-1", Country: "AT"})
	var booking dispatch.Booking
	fmt.Println(env.GetWorkflowResult(&booking), booking.Service, booking.PriceCents)
	// Output: <nil> standard 590
}
