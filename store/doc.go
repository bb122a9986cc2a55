// Package store keeps everything durable in PostgreSQL: tools, agents, runs,
// transcripts, the effect ledger, events, tenants and API keys.
//
// A [Store] acts for tenants, as a database role that owns nothing and that
// row level security binds. Each method names its tenant and is one round trip:
// a batch that sets the tenant for its own transaction and then runs one
// statement, or a few reads. A write of several steps is one statement with
// data-modifying CTEs, so that a compare-and-set that is lost writes nothing.
// Only [Store.AddVersion] and [Store.AddAgentVersion] use a longer transaction.
//
// A [Platform] acts as the owner of the tables: it writes what is global and
// creates tenants. [Migrate] brings a database up to date.
//
// Failures are [*tool.Error]s whose messages hold no SQL. What belongs to
// another tenant is tool.NotFound, as what does not exist; a database that does
// not answer is tool.Unavailable.
//
// JSON is stored as text, so that its numbers and key order survive. What
// PostgreSQL cannot hold in it (the NUL character, halves of surrogate pairs)
// becomes U+FFFD in payloads, and is refused in definitions, whose digests
// would change.
package store
