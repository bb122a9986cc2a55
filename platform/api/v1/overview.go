package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Overview is a tenant at a glance. Parts that the key may not see are absent.
type Overview struct {
	At         time.Time         `json:"at"`
	CountLimit int64             `json:"count_limit" doc:"Where counts stop: it means that many or more" example:"10000"`
	Waiting    []OverviewCount   `json:"waiting" doc:"What waits for a person; what does not is left out"`
	Troubles   []OverviewCount   `json:"troubles" doc:"What is switched off, paused or failing; what is well is left out"`
	Workers    *OverviewWorkers  `json:"workers,omitempty" doc:"Of runs; with runs.read"`
	Runs       []OverviewRuns    `json:"runs,omitempty" doc:"That began today, in UTC, by status; with runs.read"`
	Hours      []OverviewHour    `json:"hours,omitempty" doc:"The last 24 hours, the oldest first; with runs.read"`
	Failures   *OverviewFailures `json:"failures,omitempty" doc:"Of the last hour; with runs.read"`
	Spent      *OverviewSpend    `json:"spent,omitempty" doc:"Today, in UTC; with usage.read"`
	Budgets    []Budget          `json:"budgets,omitempty" doc:"The first twenty by name; with budgets.read"`
	HasTools   *bool             `json:"has_tools,omitempty" doc:"Whether the tenant has a tool of its own; with tools.read"`
	HasRuns    *bool             `json:"has_runs,omitempty" doc:"Whether anything was run; with runs.read"`
}

// OverviewCount is how much there is of something.
type OverviewCount struct {
	Kind  string `json:"kind" enum:"approvals,pending_calls,input_requests,quarantined_tools,paused_runs,switched_off_tools,failing_webhooks,paused_schedules" example:"approvals"`
	Count int64  `json:"count" example:"3"`
}

// OverviewWorkers says whether runs can go on.
type OverviewWorkers struct {
	Polling   bool   `json:"polling" doc:"False where it is known that no worker polls the task queue" example:"true"`
	TaskQueue string `json:"task_queue" example:"toolcrib"`
}

// OverviewRuns is how many runs have a status.
type OverviewRuns struct {
	Status agent.RunStatus `json:"status" example:"completed"`
	Runs   int64           `json:"runs" example:"12"`
}

// OverviewHour is how many calls began in an hour.
type OverviewHour struct {
	Hour   time.Time `json:"hour"`
	Calls  int64     `json:"calls" example:"240"`
	Failed int64     `json:"failed" doc:"Of them" example:"2"`
}

// OverviewFailures are calls that failed.
type OverviewFailures struct {
	Calls int64                 `json:"calls" example:"7"`
	Tools []OverviewFailingTool `json:"tools" doc:"Those that failed most"`
}

// OverviewFailingTool is a tool whose calls failed.
type OverviewFailingTool struct {
	Tool     string    `json:"tool" example:"searchOrders"`
	Failures int64     `json:"failures" example:"5"`
	Kind     tool.Kind `json:"kind,omitempty" doc:"Of the last failure" example:"timeout"`
	LastCall string    `json:"last_call" doc:"Id of the last" example:"01975c2e-7d1a-7c3e-9f00-0000000000e1"`
}

// OverviewSpend is what was used.
type OverviewSpend struct {
	Calls         int64 `json:"calls" example:"2400"`
	Turns         int64 `json:"turns" example:"310"`
	UnpricedTurns int64 `json:"unpriced_turns" doc:"Turns of models without a price, which cost is not in cost_micros" example:"0"`
	CostMicros    int64 `json:"cost_micros" doc:"In millionths" example:"1250000"`
}

// Found is what a search found.
type Found struct {
	Kind  string `json:"kind" enum:"tool,agent,pipeline,space,credential,key,toolset,schedule,mcp_server,profile,role,budget,webhook,tool_session,view,run,call,approval,pending_call,input_request" example:"tool"`
	ID    string `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
	Name  string `json:"name" doc:"Slug, reference or name; the id of what has none" example:"searchOrders"`
	Title string `json:"title,omitempty" doc:"Its name for people" example:"Search orders"`
	State string `json:"state,omitempty" doc:"Its status" example:"published"`
	RunID string `json:"run_id,omitempty" doc:"Of a call or an approval" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1"`
}
