// Package temporaltrace carries traces through Temporal: from the client that
// starts a workflow, through the workflow, to its activities.
//
// A workflow hands the traceparent it was started with to what it starts, and
// makes no span while it runs: nothing that is replayed can tell of itself
// twice, and what was recorded before a replay has the same parent as what
// comes after. A span of the whole workflow is made once, when it ends.
//
// The header is the one that the tracing interceptors of Temporal's SDKs use,
// so that a trace goes through processes that have one of those.
package temporaltrace
