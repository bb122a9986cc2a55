package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// MaxCallName is how many bytes the id and the name of a call may have that a model wrote. Both are in
// histories, events and messages once for each call, and providers' own are below 64.
const MaxCallName = 256

// WithShortNames returns an answer in which no call's id or name is longer than [MaxCallName]. Another id
// stands for a longer one, the same for the same; a longer name is that of no tool, and is clipped. The
// answer itself is not changed.
func (r *ModelResponse) WithShortNames() *ModelResponse {
	long := func(c Call) bool { return len(c.ID) > MaxCallName || len(c.Name) > MaxCallName }
	if !slices.ContainsFunc(r.Calls, long) {
		return r
	}
	out := *r
	out.Calls = slices.Clone(r.Calls)
	for i := range out.Calls {
		c := &out.Calls[i]
		if len(c.ID) > MaxCallName {
			sum := sha256.Sum256([]byte(c.ID))
			c.ID = "call_" + hex.EncodeToString(sum[:16])
		}
		if len(c.Name) > MaxCallName {
			c.Name = tool.Clip(c.Name, MaxCallName-len("…"))
		}
	}
	return &out
}
