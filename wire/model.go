package wire

import "time"

// Retry policy of an attempt to ask a model that failed with a retryable error.
// A retry delay given by the provider takes precedence over the interval.
const (
	ModelAttempts         = 10
	ModelRetryInterval    = time.Second
	ModelRetryCoefficient = 2
	ModelRetryMaximum     = 30 * time.Second
)

// CallRetryInterval is how long a call waits for its second attempt, unless the tool says
// otherwise.
const CallRetryInterval = 500 * time.Millisecond
