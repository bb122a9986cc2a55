package audit

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Outcome is what became of a change.
type Outcome string

// Outcomes.
const (
	Done    Outcome = "done"
	Refused Outcome = "refused" // Reason says why.
)

// Outcomes lists the outcomes.
func Outcomes() []Outcome { return []Outcome{Done, Refused} }

// Entry is a row of the log.
type Entry struct {
	Tenant  tool.TenantID // Empty for the platform's.
	ID      string
	At      time.Time // To the microsecond.
	Actor   Actor
	Action  Action
	Object  Object
	Outcome Outcome
	Reason  string
	// Before and After hold the columns that changed, as JSON objects: all of them of what was
	// made or deleted. Values that are secret are not shown, only that they changed.
	Before json.RawMessage
	After  json.RawMessage

	Seq      int64     // Place in the chain, from 1 on; zero while it is not sealed.
	Hash     string    // See [Digest]; empty while it is not sealed.
	SealedAt time.Time // Zero while it is not sealed.
}

// Object is what a change is about.
type Object struct {
	Kind string // The first part of the action's name.
	ID   string
	Name string // As it was called at the time.
}

// Query selects rows. Empty fields select all.
type Query struct {
	Actor   string // Subject.
	Action  string // An action, or the kind of object before its dot.
	Object  string // Id or name.
	Outcome Outcome
	Since   *time.Time // Inclusive.
	Until   *time.Time // Exclusive.
	Before  string     // Id of the last row of the previous page.
	Limit   int
	// Bytes bounds the page by what was there before and after in its rows, the last two apart; zero
	// for no bound. [Within] cuts the page to it, and says whether there are more rows.
	Bytes int64
}

// Within returns the first rows of a page, at least one: those before which there are fewer bytes
// of before and after, so that a page exceeds the number by no more than its last row.
func Within(rows []Entry, bytes int64) []Entry {
	for i, e := range rows {
		if bytes <= 0 {
			return rows[:i]
		}
		bytes -= int64(len(e.Before) + len(e.After))
	}
	return rows
}

// State is the state of a chain.
type State struct {
	Head
	LastSeq  int64      // The greatest number of a row: that of the head.
	Unsealed int        // Rows that are not sealed yet.
	Oldest   *time.Time // When the first of them was written.
}

// Head is the last link of a chain. The zero one is before the first.
type Head struct {
	Seq  int64
	Hash string
}

// Log reads the log of a tenant, or of the platform with a store that is opened for it and
// the empty tenant. It is safe for concurrent use.
type Log interface {
	// ListAudit returns rows, newest first.
	ListAudit(ctx context.Context, tenant tool.TenantID, q Query) ([]Entry, error)
	// FindAudit returns one row. It fails with tool.NotFound.
	FindAudit(ctx context.Context, tenant tool.TenantID, id string) (Entry, error)
	// AuditChain returns at most limit sealed rows after a number, in their order.
	AuditChain(ctx context.Context, tenant tool.TenantID, after int64, limit int) ([]Entry, error)
	// AuditState returns the recorded head, and what there is beside it.
	AuditState(ctx context.Context, tenant tool.TenantID) (State, error)
}
