package ledger

import (
	"crypto/sha256"
	"fmt"
	"time"
)

// InvocationID returns the id of an invocation that a workflow makes for an
// effect: a UUIDv7 of the given time, whose other bits are the effect's, so
// that a replay makes the same. Where the effect has an invocation already, the
// ledger keeps that one.
func InvocationID(at time.Time, effectID string) string {
	sum := sha256.Sum256([]byte("invocation of " + effectID))
	id := sum[:16]
	ms := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (8 * (5 - i))) //nolint:gosec // Byte by byte.
	}
	id[6] = 0x70 | id[6]&0x0f // Version 7.
	id[8] = 0x80 | id[8]&0x3f // The variant of RFC 9562.
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
