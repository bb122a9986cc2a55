package workflows_test

import (
	"fmt"
	"log/slog"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolcribtest"
	"github.com/toolcrib/toolcrib/workflows"
)

// quietEnvironment is the SDK's test environment without its log.
func quietEnvironment() *testsuite.TestWorkflowEnvironment {
	suite := new(testsuite.WorkflowTestSuite)
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	return suite.NewTestWorkflowEnvironment()
}

// A host's workflow calls one tool, and returns what goes wrong as it is.
func ExampleExecute() {
	quote := func(ctx workflow.Context, grams int) (string, error) {
		result, err := workflows.Execute(ctx, workflows.Node{
			ID: "quote", Tool: "quoteShipping@^1.0", Principal: tool.Principal{Tenant: "acme", Subject: "service:shop"},
			Arguments: map[string]any{"weight_grams": grams},
		})
		if err != nil {
			return "", err
		}
		var offer struct{ Service string }
		err = result.Decode(&offer)
		return offer.Service, workflows.Failure(err)
	}

	env := quietEnvironment()
	toolcribtest.New(env).Answer("quoteShipping", map[string]string{"service": "express"})
	env.ExecuteWorkflow(quote, 1500)
	var service string
	fmt.Println(env.GetWorkflowResult(&service), service)
	// Output: <nil> express
}

// A workflow that makes several calls pins its tools once.
func ExampleLoadPlan() {
	both := func(ctx workflow.Context) ([]string, error) {
		plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{
			Principal: tool.Principal{Tenant: "acme", Subject: "service:shop"}, Tools: []string{"findOrder", "quoteShipping"},
		})
		if err != nil {
			return nil, err
		}
		for _, name := range []string{"findOrder", "quoteShipping"} {
			if _, err := plan.Execute(ctx, workflows.Node{ID: name, Tool: name}); err != nil {
				return nil, err
			}
		}
		return plan.Tools(), nil
	}

	env := quietEnvironment()
	tools := toolcribtest.New(env)
	tools.Answer("findOrder", nil)
	tools.Answer("quoteShipping", nil)
	env.ExecuteWorkflow(both)
	var pinned []string
	fmt.Println(env.GetWorkflowResult(&pinned), pinned, len(tools.Calls()))
	// Output: <nil> [findOrder@1.0.0 quoteShipping@1.0.0] 2
}

// Calls whose arguments are known together are made in one activity, one after the other.
func ExamplePlan_Sequence() {
	prepare := func(ctx workflow.Context) (int, error) {
		plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{
			Principal: tool.Principal{Tenant: "acme", Subject: "service:shop"}, Tools: []string{"reserve", "notify"},
		})
		if err != nil {
			return 0, err
		}
		answers, err := plan.Sequence(ctx,
			workflows.Node{ID: "kettle", Tool: "reserve", Arguments: map[string]string{"sku": "kettle"}},
			workflows.Node{ID: "cup", Tool: "reserve", Arguments: map[string]string{"sku": "cup"}},
			workflows.Node{ID: "told", Tool: "notify", Arguments: map[string]string{"team": "packing"}},
		)
		return len(answers), err
	}

	env := quietEnvironment()
	tools := toolcribtest.New(env)
	tools.Answer("reserve", nil)
	tools.Answer("notify", nil)
	env.ExecuteWorkflow(prepare)
	var answered int
	fmt.Println(env.GetWorkflowResult(&answered), answered, tools.Calls()[2].ID)
	// Output: <nil> 3 told
}

// Calls that do not depend on one another are made side by side; one that gets no
// answer stops no other.
func ExamplePlan_All() {
	quotes := func(ctx workflow.Context, carriers []string) (answered []string, err error) {
		plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{
			Principal: tool.Principal{Tenant: "acme", Subject: "service:shop"}, Tools: carriers,
		})
		if err != nil {
			return nil, err
		}
		nodes := make([]workflows.Node, len(carriers))
		for i, carrier := range carriers {
			nodes[i] = workflows.Node{ID: "quote/" + carrier, Tool: carrier}
		}
		answers, _ := plan.All(ctx, nodes...) // Each answer has its own error.
		for i, answer := range answers {
			if answer.Err == nil {
				answered = append(answered, carriers[i])
			}
		}
		return answered, ctx.Err()
	}

	env := quietEnvironment()
	tools := toolcribtest.New(env)
	tools.Answer("quoteAir", map[string]int{"cents": 990})
	tools.Fail("quoteSea", tool.Unavailable, "the office is closed")
	env.ExecuteWorkflow(quotes, []string{"quoteAir", "quoteSea"})
	var answered []string
	fmt.Println(env.GetWorkflowResult(&answered), answered)
	// Output: <nil> [quoteAir]
}
