// Package temporaltrace propagates traces through Temporal: from the client
// that starts a workflow, through the workflow, to its activities.
//
// A workflow passes its traceparent on to what it starts, and creates no span while it runs: a
// replay never records a span twice, and spans from before a replay have the same parent as
// those after. One span of the whole workflow is created when it ends.
//
// The header is the one that the tracing interceptors of Temporal's SDKs use,
// so that traces continue through processes that use one of those.
package temporaltrace
