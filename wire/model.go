package wire

import "time"

// How Temporal repeats an attempt to ask a model that failed in a way that may
// pass. What the provider says of when to come back goes before the interval.
const (
	ModelAttempts         = 10
	ModelRetryInterval    = time.Second
	ModelRetryCoefficient = 2
	ModelRetryMaximum     = 30 * time.Second
)
