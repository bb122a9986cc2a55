// Package uuid7 generates the ids of rows: UUIDs of version 7 (RFC 9562, section 5.7), which
// are sorted by time.
package uuid7

import (
	"fmt"

	"github.com/google/uuid"
)

// New returns a new id. It fails only when the system has no randomness.
func New() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("making an id: %w", err)
	}
	return id.String(), nil
}
