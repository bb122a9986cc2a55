// Package toolcribtest has fakes for teams whose workflows call tools: a workflow
// is unit-tested in the SDK's test environment, without a platform.
//
//	env := new(testsuite.WorkflowTestSuite).NewTestWorkflowEnvironment()
//	tools := toolcribtest.New(env)
//	tools.Answer("quoteShipping", map[string]any{"price_cents": 990})
//	env.ExecuteWorkflow(Dispatch, parcel)
//	require.Len(t, tools.Calls(), 1)
//
// What the platform decides for a call (schemas, policy, egress, approvals) is not
// faked: a tool answers what the test says.
package toolcribtest
