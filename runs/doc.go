// Package runs holds the use cases on runs that the API, the reconciler and
// other front doors share: to accept a run and start its workflow, to retry the
// starts that Temporal has not confirmed, and to cancel a run.
//
// A run is recorded first, together with the start of its workflow (an outbox
// row, [agent.Start]). The process that accepts the run makes the first attempt;
// until Temporal confirms the workflow, any process may make another. Workflow
// ids make attempts idempotent: Temporal refuses a second execution. Only an
// answer of Temporal that no attempt can change ends the run, and only while the
// run is pending and Temporal has no execution of it.
//
// The package knows the Temporal client and, by the interface [Store], the
// record. It knows neither HTTP nor SQL.
package runs
