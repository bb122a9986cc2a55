package storetest

import "testing"

// Run is the conformance suite of agent.Runs, ledger.Ledger, ledger.States, resolver.Source,
// registry.Store, retrieval.Store, wait.Approvals, webhook.Store and webhook.Outbox, file.Store, space.Store,
// space.Visits, space.Wakes and graph.Records, and tests the tenant isolation of
// every method.
func Run(t *testing.T, newDatabase func(tb testing.TB) *Database) {
	t.Helper()
	for _, suite := range []struct {
		name string
		run  func(t *testing.T, d *Database)
	}{
		{"Foreign", testForeign},
		{"Tools", testTools},
		{"Versions", testVersions},
		{"Agents", testAgents},
		{"Source", testSource},
		{"Runs", testRuns},
		{"Turns", testTurns},
		{"Admit", testAdmit},
		{"Phases", testPhases},
		{"Settle", testSettle},
		{"Answers", testAnswers},
		{"Records", testRecords},
		{"RecordsBegin", testRecordsBegin},
		{"RecordsAfterTheEnd", testRecordsAfterTheEnd},
		{"RecordsLeft", testRecordsLeft},
		{"Overrides", testOverrides},
		{"Taint", testTaint},
		{"TaintOfMessages", testTaintOfMessages},
		{"TaintByLink", testTaintByLink},
		{"Usage", testUsage},
		{"Budgets", testBudgets},
		{"BudgetEnds", testBudgetEnds},
		{"Profiles", testProfiles},
		{"Toolsets", testToolsets},
		{"AppliedSets", testAppliedSets},
		{"ClaimedRemovals", testClaimedRemovals},
		{"Users", testUsers},
		{"Canaries", testCanaries},
		{"Gates", testGates},
		{"Views", testViews},
		{"ToolSessions", testToolSessions},
		{"Embeds", testEmbeds},
		{"Prices", testPrices},
		{"Pauses", testPauses},
		{"Reads", testReads},
		{"Output", testOutput},
		{"MCPSessions", testMCPSessions},
		{"Keys", testKeys},
		{"Roles", testRoles},
		{"TokenUsers", testTokenUsers},
		{"RequestLimits", testRequestLimits},
		{"Requests", testRequests},
		{"Pipelines", testPipelines},
		{"Documents", testDocuments},
		{"Ingestion", testIngestion},
		{"Generations", testGenerations},
		{"Search", testSearch},
		{"Platform", testPlatform},
		{"ApprovalsAsk", testAsk},
		{"ApprovalsOfCalls", testApprovedCalls},
		{"ApprovalsList", testListApprovals},
		{"Grants", testGrants},
		{"Slots", testSlots},
		{"State", testState},
		{"Graphs", testGraphs},
		{"ApprovalsCount", testCountApprovers},
		{"ApprovalsOfOnePerson", testOnePersonDecidesAlone},
		{"ApprovalsDecide", testDecide},
		{"ApprovalsOwn", testOwnConfirmation},
		{"CallsFromOutside", testCalls},
		{"Inbox", testInbox},
		{"Webhooks", testWebhooks},
		{"Spaces", testSpaces},
		{"Schedules", testSchedules},
		{"Files", testFiles},
		{"ApprovalsEnd", testEndApproval},
		{"ApprovalsDelivery", testDeliveries},
		{"ApprovalsOverdue", testOverdue},
		{"ApprovalsEscalate", testEscalation},
		{"ApprovalsRace", testRacingDecisions},
		{"Interleavings", testInterleavings},
	} {
		t.Run(suite.name, func(t *testing.T) {
			t.Parallel()
			suite.run(t, newDatabase(t))
		})
	}
}
