package tool

import "time"

// Check says where to look for the effect of a call whose outcome is unknown.
type Check struct {
	// Host is the host of the request; empty where the tool's configuration
	// names none.
	Host string `json:"host,omitempty"`
	// Method of the request, where the tool's configuration names it.
	Method string `json:"method,omitempty"`
	// IdempotencyKey is the Idempotency-Key of the request.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// ArgumentsDigest is the sha256 of the arguments' canonical JSON.
	ArgumentsDigest string `json:"arguments_digest,omitempty"`
	// SentAfter and SentBefore bound the time of the request.
	SentAfter  time.Time `json:"sent_after,omitzero"`
	SentBefore time.Time `json:"sent_before,omitzero"`
	Advice     string    `json:"advice"` // What to do, in a sentence or two.
}
