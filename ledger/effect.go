package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"

	"github.com/toolcrib/toolcrib/tool"
)

// Effect is the identity of an effect: two calls with equal fields are one
// effect.
type Effect struct {
	Tenant          tool.TenantID
	WorkflowID      string
	FirstRunID      string // Of the workflow's chain: stable over retries, resets and continue-as-new.
	Step            string // Names the step in its workflow, such as "turn/3".
	Position        int    // Of the call within the step.
	VersionDigest   string
	ArgumentsDigest string
}

// ID returns the effect's id: a sha256 in hexadecimal, computed in the workflow and sent as
// idempotency key. After a reset, the same call has the same id, and another call another.
func (e Effect) ID() string {
	h := sha256.New()
	for _, part := range []string{
		string(e.Tenant), e.WorkflowID, e.FirstRunID, e.Step,
		strconv.Itoa(e.Position), e.VersionDigest, e.ArgumentsDigest,
	} {
		// Lengths keep ("ab", "c") and ("a", "bc") apart.
		_, _ = io.WriteString(h, strconv.Itoa(len(part))+":"+part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
