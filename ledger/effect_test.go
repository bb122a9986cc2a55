package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
)

// The id is the same for the same effect, and moves with each of its parts,
// also when text wanders from one part to its neighbour.
func TestEffectID(t *testing.T) {
	t.Parallel()

	base := ledger.Effect{
		Tenant: "t", WorkflowID: "w", FirstRunID: "f", Step: "turn/1", Position: 0, VersionDigest: "v", ArgumentsDigest: "a",
	}
	same := base
	require.Equal(t, same.ID(), base.ID())
	require.Len(t, base.ID(), 64)
	seen := map[string]string{base.ID(): "base"}
	for name, change := range map[string]func(*ledger.Effect){
		"tenant":    func(e *ledger.Effect) { e.Tenant = "u" },
		"workflow":  func(e *ledger.Effect) { e.WorkflowID = "x" },
		"first run": func(e *ledger.Effect) { e.FirstRunID = "g" },
		"step":      func(e *ledger.Effect) { e.Step = "turn/2" },
		"position":  func(e *ledger.Effect) { e.Position = 1 },
		"version":   func(e *ledger.Effect) { e.VersionDigest = "w" },
		"arguments": func(e *ledger.Effect) { e.ArgumentsDigest = "b" },
		"boundary":  func(e *ledger.Effect) { e.VersionDigest, e.ArgumentsDigest = "va", "" },
		"boundary2": func(e *ledger.Effect) { e.VersionDigest, e.ArgumentsDigest = "", "va" },
	} {
		e := base
		change(&e)
		require.Empty(t, seen[e.ID()], name)
		seen[e.ID()] = name
	}
}
