package agent

import "github.com/toolcrib/toolcrib/tool"

// QueueDepths count what waits and runs over all tenants.
type QueueDepths struct {
	QueueDepth
	// Tenants are those with the most pending runs, the most first, at most as many as were
	// asked for. The rest of the counts is of the others.
	Tenants []TenantDepth `json:"tenants"`
}

// QueueDepth counts what waits and runs.
type QueueDepth struct {
	Pending int     `json:"pending"`  // Runs that were accepted and have not begun.
	Running int     `json:"running"`  // Runs that have begun, those that wait included.
	Waiting int     `json:"waiting"`  // Calls that wait for a decision, an answer or a result.
	OldestS float64 `json:"oldest_s"` // Age of the oldest pending run, in seconds.
}

// TenantDepth counts what waits and runs of a tenant.
type TenantDepth struct {
	Tenant tool.TenantID `json:"tenant_id"`
	Slug   string        `json:"slug"`
	QueueDepth
}
