package agent

import (
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// EventModelRetrying reports that an attempt to call the model failed and will be retried; its data
// is a [ModelRetry].
const EventModelRetrying tool.EventType = "model.retrying"

// ModelRetry is a failed attempt of a model turn that is retried.
type ModelRetry struct {
	Turn        int       `json:"turn"`
	Attempt     int       `json:"attempt"`      // The failed attempt, counted from 1.
	MaxAttempts int       `json:"max_attempts"` // After the last one the run fails.
	Model       string    `json:"model"`        // As the agent names it, "provider/name".
	Kind        tool.Kind `json:"kind"`
	Cause       string    `json:"cause"`    // For people; redacted.
	RetryAt     time.Time `json:"retry_at"` // When the next attempt is due.
	// TurnID identifies the turn: it is equal for all attempts, and different
	// after a reset.
	TurnID string `json:"turn_id"`
	// NextModel is the fallback model that is asked within the same attempt; empty if the attempt
	// is over.
	NextModel string `json:"next_model,omitempty"`
}
