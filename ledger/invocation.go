package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// InvocationID returns the id of an invocation that a workflow makes for an effect: a UUIDv7 of
// the given time, whose other bits derive from the effect, so that a replay computes the same
// id. If the effect has an invocation already, the ledger keeps that one.
func InvocationID(at time.Time, effectID string) string {
	return derived(millis(at), "invocation of "+effectID)
}

// StepInvocationID returns the id of the invocation of a composition's step: like
// [InvocationID], with a time after the composition's own, so that the steps sort after it and in
// order. At is used if the composition's id is not a UUID.
func StepInvocationID(composition string, index int, effectID string, at time.Time) string {
	if stamp, ok := stampOf(composition); ok {
		var ms int64
		for _, b := range stamp {
			ms = ms<<8 | int64(b)
		}
		at = time.UnixMilli(ms + int64(index) + 1)
	}
	return InvocationID(at, effectID)
}

// RunID returns the id of the run of an invocation: a UUIDv7 of the same time, equal for every
// attempt. It is empty if invocationID is not a UUID.
func RunID(invocationID string) string {
	stamp, ok := stampOf(invocationID)
	if !ok {
		return ""
	}
	return derived(stamp, "run of "+invocationID)
}

// FirstMessageID returns the id of a run's first message: a UUIDv7 of the run's time, equal for
// every attempt to record or start the run. It is empty if the run's id is not a UUID.
func FirstMessageID(runID string) string {
	stamp, ok := stampOf(runID)
	if !ok {
		return ""
	}
	return derived(stamp, "first message of "+runID)
}

// TurnMessageID returns the id of the assistant message of a turn: a UUIDv7 of the given
// time, which is the turn's place in its run rather than when a model answered, and
// otherwise derived from run and key.
func TurnMessageID(at time.Time, runID, turnKey string) string {
	return derived(millis(at), "turn "+turnKey+" of "+runID)
}

// stampOf returns the time in a UUIDv7, as its bytes.
func stampOf(id string) (stamp [6]byte, ok bool) {
	digits := strings.ReplaceAll(id, "-", "")
	if len(digits) != 32 {
		return stamp, false
	}
	_, err := hex.Decode(stamp[:], []byte(digits[:12]))
	return stamp, err == nil
}

// millis returns a time as the first bytes of a UUIDv7.
func millis(at time.Time) (stamp [6]byte) {
	ms := at.UnixMilli()
	for i := range stamp {
		stamp[i] = byte(ms >> (8 * (5 - i))) //nolint:gosec // Byte by byte.
	}
	return stamp
}

func derived(stamp [6]byte, of string) string {
	sum := sha256.Sum256([]byte(of))
	id := sum[:16]
	copy(id, stamp[:])
	id[6] = 0x70 | id[6]&0x0f // Version 7.
	id[8] = 0x80 | id[8]&0x3f // The variant of RFC 9562.
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
