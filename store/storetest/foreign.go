package storetest

import (
	"maps"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// foreign is the access of another tenant to rows of a fixture's tenant.
type foreign struct {
	*Fixture
	stranger tool.TenantID
}

// methodsWithoutTenant act without a tenant, or take it from data that no other tenant can
// write.
var methodsWithoutTenant = map[string]string{
	"Close":               "closes the store",
	"Ping":                "reads no rows",
	"CheckWrites":         "reads no rows",
	"CheckSchema":         "reads the schema version only",
	"SchemaGap":           "reads the schema version only",
	"PoolStats":           "counts this process's connections",
	"Listen":              "returns ids of runs with events, without contents",
	"ListenControl":       "returns ids of runs with requests, without contents",
	"EnsurePartitions":    "makes empty tables",
	"SweepRequests":       "deletes expired rows",
	"SweepRateBuckets":    "deletes rows that say nothing any more",
	"SweepRetention":      "deletes rows whose time is over, each as its tenant",
	"SweepStats":          "counts this process's sweeps",
	"SealAudit":           "chains rows of every tenant, each as its tenant",
	"AuditUnsealedAge":    "reads an age, without contents",
	"MeasureRetention":    "reads ages, without contents",
	"DropEmptyPartitions": "drops empty tables",
	"SweepScheduleStarts": "deletes old rows",
	"ScheduleTenants":     "returns ids of tenants with schedules to compare, without contents",
	"JudgeCanaries":       "judges canaries, each as its tenant",
	"SweepDeliveries":     "deletes old rows",
	"SweepFiles":          "deletes expired rows",
	"ClaimLeftFiles":      "returns keys of contents that no file has any more",
	"FileContents":        "reads no rows; filetest has its foreign case",
	"WebhookTenants":      "returns ids of tenants with deliveries to make, without contents",
	"ClaimStarts":         "returns keys of due starts, without contents",
	"CountStarts":         "counts the starts of every tenant",
	"QueueDepths":         "counts runs and calls of every tenant, and names those with many",
	"ClaimPauses":         "returns keys of runs and their workflows, without contents",
	"ClaimResolved":       "as ClaimUndelivered",
	"ClaimUndelivered":    "returns keys of ended requests and their workflows, without contents",
	"ClaimWakes":          "returns keys of agents to wake, without contents",
	"EscalateDue":         "writes the events of requests that escalate, each as its tenant",
	"ExpireOverdue":       "ends the requests whose time is over, each as its tenant",

	"BrowserTenants":         "has the digest of a browser's secret, which opens those tenants",
	"EndWebSessions":         "has the digest of a browser's secret, which opens those tenants",
	"TenantOfSlug":           "is how programs that name tenants find their ids; the id is all that it returns",
	"TakeExpiredMCPSessions": "takes expired sessions, to end them",
}

func testForeign(t *testing.T, d *Database) {
	t.Helper()
	cases := maps.Clone(foreignCases)
	maps.Copy(cases, toolCases)
	maps.Copy(cases, usageCases)
	maps.Copy(cases, budgetCases)
	maps.Copy(cases, quotaCases)
	maps.Copy(cases, profileCases)
	maps.Copy(cases, toolsetCases)
	maps.Copy(cases, appliedCases)
	maps.Copy(cases, lifecycleCases)
	maps.Copy(cases, viewCases)
	maps.Copy(cases, toolSessionCases)
	maps.Copy(cases, embedCases)
	maps.Copy(cases, credentialCases)
	maps.Copy(cases, retrievalCases)
	maps.Copy(cases, runCases)
	maps.Copy(cases, graphCases)
	maps.Copy(cases, reconcileCases)
	maps.Copy(cases, keyCases)
	maps.Copy(cases, auditCases)
	maps.Copy(cases, requestCases)
	maps.Copy(cases, grantCases)
	maps.Copy(cases, slotCases)
	maps.Copy(cases, stateCases)
	maps.Copy(cases, eventCases)
	maps.Copy(cases, approvalCases)
	maps.Copy(cases, callCases)
	maps.Copy(cases, inboxCases)
	maps.Copy(cases, webhookCases)
	maps.Copy(cases, spaceCases)
	maps.Copy(cases, scheduleCases)
	maps.Copy(cases, fileCases)
	t.Run("EveryMethodHasACase", func(t *testing.T) {
		t.Parallel()
		for method := range reflect.TypeFor[*store.Store]().Methods() {
			_, covered := cases[method.Name]
			_, exempt := methodsWithoutTenant[method.Name]
			require.NotEqual(t, covered, exempt, "method %s needs a foreign-tenant case", method.Name)
		}
	})
	for name, try := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try(t, foreign{Fixture: NewFixture(t, d), stranger: d.Tenant(t)})
		})
	}
}
