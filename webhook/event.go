package webhook

import (
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/budget"
	"github.com/toolcrib/toolcrib/tool"
)

// Events that are of no run.
const (
	// EventQuarantined reports that the platform stopped a tool until it is reviewed.
	EventQuarantined tool.EventType = "tool.quarantined"
	// EventBudget reports that most of a budget is spent, once in each of its periods.
	EventBudget tool.EventType = "budget.threshold"
	// EventCanaryReturned reports that a version which a share of the runs got was taken back.
	EventCanaryReturned tool.EventType = "tool.canary_returned"
	// EventDisabled reports that a webhook of the tenant was disabled, to its others.
	EventDisabled tool.EventType = "webhook.disabled"
	// EventPing is a test. Nobody subscribes to it; see [Service.Ping].
	EventPing tool.EventType = "webhook.ping"
)

// Event describes a type of event that webhooks can subscribe to.
type Event struct {
	Type    tool.EventType
	Meaning string
	// OfTool events name a tool, and OfRun events a run, with its agent: filters need that.
	OfTool, OfRun bool
}

// events is the one list of them.
var events = []Event{
	{tool.EventNeedsApproval, "a call waits for approval", true, true},
	{tool.EventApproved, "a call was approved", true, true},
	{tool.EventRejected, "a call was rejected", true, true},
	{tool.EventEscalated, "a request for approval waited for long: others may decide it too", true, true},
	{tool.EventExpired, "a call was not approved, or not answered, in time", true, true},
	{tool.EventPending, "a call waits for a result from outside", true, true},
	{agent.EventRunCompleted, "a run completed", false, true},
	{agent.EventRunFailed, "a run failed", false, true},
	{agent.EventRunCancelled, "a run was cancelled", false, true},
	{EventQuarantined, "a tool was stopped until it is reviewed", true, false},
	{agent.EventRunTainted, "a run got its first result of an untrusted source", true, true},
	{EventBudget, "80 % of a budget is spent", true, false},
	{EventCanaryReturned, "a canary of a tool was taken back, since too many of its calls failed", true, false},
	{EventDisabled, "another webhook of the tenant was disabled", false, false},
}

// Events lists the events that webhooks can subscribe to.
func Events() []Event { return slices.Clone(events) }

// EventTypes lists the types of [Events].
func EventTypes() []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = string(e.Type)
	}
	return out
}

func eventOf(t tool.EventType) (Event, bool) {
	i := slices.IndexFunc(events, func(e Event) bool { return e.Type == t })
	if i < 0 {
		return Event{}, false
	}
	return events[i], true
}

// Disabled is the payload of [EventDisabled]. It has no URL: those of some receivers hold a secret,
// which is not for the others.
type Disabled struct {
	WebhookID   string `json:"webhook_id"`
	Description string `json:"description,omitempty"`
	Reason      string `json:"reason"`
}

// Threshold is the payload of [EventBudget]: a budget of which Percent are spent in its present period.
type Threshold struct {
	Budget      string        `json:"budget"` // Its name.
	ByPlatform  bool          `json:"by_platform"`
	Period      budget.Period `json:"period"`
	Span        string        `json:"span"` // The day (2026-11-27), the month (2026-11), or the id of the run.
	LimitMicros int64         `json:"limit_micros"`
	SpentMicros int64         `json:"spent_micros"`
	Percent     int           `json:"percent"`
	Agent       string        `json:"agent"` // Slugs and name; empty where the budget names none.
	Tool        string        `json:"tool"`
	Profile     string        `json:"profile"`
}

// CanaryReturned is the payload of [EventCanaryReturned].
type CanaryReturned struct {
	Tool           string `json:"tool"`
	Version        string `json:"version"`
	Reason         string `json:"reason"`
	Calls          int    `json:"calls"`
	Failures       int    `json:"failures"`
	StableCalls    int    `json:"stable_calls"` // Of the other versions, meanwhile.
	StableFailures int    `json:"stable_failures"`
}

// Quarantined is the payload of [EventQuarantined].
type Quarantined struct {
	Tool    string `json:"tool"`
	Version string `json:"version"`
	Reason  string `json:"reason"`
}
