package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
)

// StepEffect returns the effect id of a step of a composition whose own effect
// is parent. The input of a step follows from the composition's content and
// arguments, which are part of its effect, and from earlier steps, whose
// outcomes are settled: so the id needs nothing else.
func StepEffect(parent, step string) string {
	h := sha256.New()
	for _, part := range []string{"step", parent, step} {
		_, _ = io.WriteString(h, strconv.Itoa(len(part))+":"+part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
