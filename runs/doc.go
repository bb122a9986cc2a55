// Package runs holds the use cases on runs that the API, the MCP server, the
// console and schedules share: start a run of an agent, make a single call or a
// test, rejoin what an earlier request started, wait for a call, cancel a run,
// and retry the starts that Temporal has not confirmed.
//
// A run is recorded first, together with the start of its workflow (an outbox
// row, [agent.Start]). The process that accepts the run makes the first attempt;
// until Temporal confirms the workflow, any process may make another. Workflow
// ids make attempts idempotent: Temporal refuses a second execution. Only an
// answer of Temporal that no attempt can change ends the run, and only while the
// run is pending and Temporal has no execution of it.
//
// The package knows the Temporal client. It reaches the record, the resolver and
// the reconciler by the interfaces [Store], [Resolver] and [Reconciler], and
// knows neither HTTP nor SQL. Permissions, and what of a run may be shown, are up
// to its callers.
package runs
