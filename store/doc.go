// Package store is the PostgreSQL store: tools, agents, runs, transcripts, the
// effect ledger, events, tenants and API keys.
//
// A [Store] acts for tenants, as a database role that owns nothing and is subject
// to row-level security. Each method names its tenant and is one round trip: a batch
// that sets the tenant for its own transaction and then runs one statement, or a few
// reads. A write of several steps is one statement with data-modifying CTEs, so that
// a lost compare-and-set writes nothing. Only [Store.AddVersion] and
// [Store.AddAgentVersion] use a longer transaction.
//
// A [Platform] acts as the owner of the tables: it writes global rows and creates
// tenants. [Migrate] brings a database up to date.
//
// Errors are [*tool.Error]s whose messages contain no SQL. Rows of other tenants are
// tool.NotFound, like rows that do not exist; a database that does not answer is
// tool.Unavailable.
//
// JSON is stored as text, so that its numbers and key order survive. Characters that
// PostgreSQL cannot store (NUL, unpaired surrogates) become U+FFFD in payloads, and
// are refused in definitions, whose digests would change.
package store
