package activities

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// maxCallName is how many bytes the id and the name of a call may have that a model wrote. Both are in
// histories, events and messages once for each call, and providers' own are below 64.
const maxCallName = 256

// withShortNames returns an answer in which no call's id or name is longer than [maxCallName]. Another id
// stands for a longer one, the same for the same; a longer name is that of no tool, and is clipped.
func withShortNames(resp *agent.ModelResponse) *agent.ModelResponse {
	long := func(c agent.Call) bool { return len(c.ID) > maxCallName || len(c.Name) > maxCallName }
	if !slices.ContainsFunc(resp.Calls, long) {
		return resp
	}
	out := *resp
	out.Calls = slices.Clone(resp.Calls)
	for i := range out.Calls {
		c := &out.Calls[i]
		if len(c.ID) > maxCallName {
			sum := sha256.Sum256([]byte(c.ID))
			c.ID = "call_" + hex.EncodeToString(sum[:16])
		}
		if len(c.Name) > maxCallName {
			c.Name = tool.Clip(c.Name, maxCallName)
		}
	}
	return &out
}
