// Package audit is the audit log: who changed what, when, and what it was before.
//
// Rows are written by the database, in the transaction of the change they tell of. What the
// program adds is the [Actor], which it keeps in the context, and which the store hands to
// the database with every transaction. The actor decides nothing: neither the tenant nor a
// permission is read from it.
//
// A sealer numbers the rows of each tenant and chains them by their hashes; a [Verifier]
// finds the first row that was changed, removed or put in since.
//
// It imports package tool and the standard library only.
package audit
