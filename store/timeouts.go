package store

import (
	"cmp"
	"strconv"
	"time"
)

// Timeouts bounds how long a store waits for the database. Zero fields have defaults
// for servers, whose callers wait for an answer. Callers that can wait longer retry on
// tool.Unavailable.
type Timeouts struct {
	// Connect bounds one attempt to connect, for each host of the URL. Defaults to
	// the URL's connect_timeout, else to 3 s.
	Connect time.Duration
	// Operation bounds one operation: a third of it for waiting for a connection, the
	// rest for its statements and their retries after conflicts. Defaults to 4.5 s.
	Operation time.Duration
	// Long bounds the statements of large operations: searches, documents, embeddings,
	// programs, partitions and sweeps. Defaults to 60 s.
	Long time.Duration
	// Lock bounds the wait for each lock. Defaults to 2 s.
	Lock time.Duration
	// Idle bounds how long the server keeps a transaction, and its locks, while the
	// client is silent. Defaults to 15 s.
	Idle time.Duration
	// Unacknowledged bounds how long sent data may stay unacknowledged before the
	// connection is closed (TCP_USER_TIMEOUT, on Linux). Defaults to 10 s.
	Unacknowledged time.Duration
}

// BackgroundTimeouts are for workers, which gain nothing by giving up early on a busy
// database.
func BackgroundTimeouts() Timeouts {
	return Timeouts{Operation: 9 * time.Second, Lock: 4 * time.Second}
}

func (t Timeouts) withDefaults() Timeouts {
	t.Connect = cmp.Or(t.Connect, 3*time.Second)
	t.Operation = cmp.Or(t.Operation, 4500*time.Millisecond)
	t.Long = max(cmp.Or(t.Long, time.Minute), t.Operation)
	t.Lock = cmp.Or(t.Lock, 2*time.Second)
	t.Idle = cmp.Or(t.Idle, 15*time.Second)
	t.Unacknowledged = cmp.Or(t.Unacknowledged, 10*time.Second)
	return t
}

// longOperations are the operations bounded by Timeouts.Long.
var longOperations = map[string]bool{
	"store.AddArtifactVersion": true,
	"store.BeginErasure":       true,
	"store.BeginGeneration":    true,
	"store.DeleteDocument":     true,
	"store.DeletePipeline":     true,
	"store.DestroyTenantKeys":  true,
	"store.DropGeneration":     true,
	"store.EnsurePartitions":   true,
	"store.EraseRows":          true,
	"store.FinishDocument":     true,
	"store.FinishErasure":      true,
	"store.LoadArtifact":       true,
	"store.MakeDeliveries":     true,
	"store.OpenDocuments":      true,
	"store.OpenGenerations":    true,
	"store.OpenRuns":           true,
	"store.PendingEmbeddings":  true,
	"store.PendingGeneration":  true,
	"store.PromoteGeneration":  true,
	"store.PutDocument":        true,
	"store.PurgeRuns":          true,
	"store.ReplaceChunks":      true,
	"store.SaveArtifact":       true,
	"store.SaveEmbeddings":     true,
	"store.SaveGeneration":     true,
	"store.SealEvents":         true,
	"store.SearchIndex":        true,
	"store.StrandedRuns":       true,
	"store.SweepDeliveries":    true,
	"store.SweepRateBuckets":   true,
	"store.SweepRequests":      true,
	"store.TenantRows":         true,
	"store.UnknownCalls":       true,
}

// wait returns how long an operation may wait for a connection.
func (t Timeouts) wait() time.Duration { return t.Operation / 3 }

// operation returns the time limit of an operation that has a connection.
func (t Timeouts) operation(op string) time.Duration {
	if longOperations[op] {
		return t.Long
	}
	return t.Operation - t.wait()
}

// statement returns the server's limit for a statement of an operation. It is below the
// operation's own, so that the server cancels the statement first: the connection stays
// usable and no statement outlives its client.
func (t Timeouts) statement(op string) time.Duration { return t.operation(op) * 9 / 10 }

func milliseconds(d time.Duration) string { return strconv.FormatInt(max(1, d.Milliseconds()), 10) }
