package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// DeliveryStatus is the state of a delivery.
type DeliveryStatus string

// States of deliveries.
const (
	Pending   DeliveryStatus = "pending"   // It will be attempted, or is.
	Delivered DeliveryStatus = "delivered" // The receiver answered with a status of 2xx.
	Failed    DeliveryStatus = "failed"    // No attempt is left.
)

// DeliveryStatuses lists the states of deliveries.
func DeliveryStatuses() []DeliveryStatus { return []DeliveryStatus{Pending, Delivered, Failed} }

// Delivery is an event that is sent to a webhook. Its id is the webhook-id of every attempt.
type Delivery struct {
	ID        string
	Tenant    tool.TenantID
	WebhookID string
	Type      tool.EventType
	At        time.Time // When the event happened.

	RunID        string // Empty for events that are of no run, as are the next four.
	RunSeq       int64  // Number of the event within its run.
	InvocationID string
	ParentRunID  string // Of the run, if a call of another run started it.
	Agent        string // Slug of the run's agent.
	Data         json.RawMessage

	Status    DeliveryStatus
	Attempts  int // Since it was made or replayed last.
	Replays   int
	CreatedAt time.Time
	DueAt     time.Time // Of the next attempt, while it is pending.
	EndedAt   *time.Time

	LastAttemptAt *time.Time
	LastDuration  time.Duration
	LastStatus    int    // HTTP status of the last answer; zero for none.
	LastError     string // Why the last attempt failed.
	LastAnswer    string // The beginning of the last answer's body.
}

// Message is the body of a request to a webhook.
type Message struct {
	ID     string          `json:"id"` // Equal to the header webhook-id.
	Type   tool.EventType  `json:"type"`
	Tenant tool.TenantID   `json:"tenant"`
	Time   time.Time       `json:"time"` // When the event happened.
	Data   json.RawMessage `json:"data"` // Of the event, with the ids of its run and call.
}

// Message returns the body of the delivery's requests: the same for every attempt.
func (d Delivery) Message() (Message, error) {
	data := map[string]any{}
	if len(d.Data) > 0 {
		dec := json.NewDecoder(bytes.NewReader(d.Data))
		dec.UseNumber()
		if err := dec.Decode(&data); err != nil {
			return Message{}, fmt.Errorf("reading the data of delivery %s: %w", d.ID, err)
		}
	}
	for name, id := range map[string]string{
		"run_id": d.RunID, "invocation_id": d.InvocationID, "parent_run_id": d.ParentRunID, "agent": d.Agent,
	} {
		if id != "" {
			data[name] = id
		}
	}
	if d.RunID != "" {
		data["seq"] = d.RunSeq
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return Message{}, fmt.Errorf("encoding the data of delivery %s: %w", d.ID, err)
	}
	return Message{ID: d.ID, Type: d.Type, Tenant: d.Tenant, Time: d.At.UTC(), Data: raw}, nil
}

// Due is a leased delivery, with all that an attempt needs.
type Due struct {
	Delivery
	Webhook   Webhook
	Fence     int64 // Of the lease.
	OldSigns  bool  // The webhook's secret before signs too.
	Sensitive bool  // The tenant hides likely secrets in its records.
}

// Attempt is the outcome of an attempt.
type Attempt struct {
	Tenant   tool.TenantID
	ID       string // Of the delivery.
	Fence    int64
	Status   DeliveryStatus
	Delay    time.Duration // Until the next attempt, where it is pending.
	Duration time.Duration
	Code     int    // HTTP status; zero for none.
	Error    string // Why it failed.
	Answer   string
	// Disable disables the webhook at once, for this reason. A delivery that failed disables it
	// too, if nothing was delivered since its first attempt.
	Disable string
}

// Shared returns why an attempt failed, for other receivers of the tenant: what the receiver
// answered with, but nothing of where it is. The error of a request without an answer may name its
// host.
func (a Attempt) Shared() string {
	if a.Code == 0 {
		return "no answer was received"
	}
	return a.Error
}

// DeliveryQuery selects deliveries, newest first.
type DeliveryQuery struct {
	Tenant    tool.TenantID
	WebhookID string
	Status    DeliveryStatus // Empty for all.
	Type      tool.EventType // Empty for all.
	Before    string         // Id of the delivery before the page.
	Limit     int
}
