package definition

import (
	"time"

	"github.com/toolcrib/toolcrib/confirm"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// checkConfirmation checks when a tool asks for approvals, and how.
func checkConfirmation(c *tool.Confirmation) error {
	const at = "/interaction/confirmation"
	if c == nil {
		return nil
	}
	if _, err := confirm.Compile(*c); err != nil {
		return refusal.Within(at, err)
	}
	if c.Approvals < 0 || c.Approvals > tool.MaxApprovals {
		return refusal.New(tool.Invalid, at+"/approvals", "%d approvals: expected 1 to %d", c.Approvals, tool.MaxApprovals)
	}
	expires := time.Duration(c.ExpiresSeconds) * time.Second
	if c.ExpiresSeconds != 0 && (expires < tool.MinConfirmationExpires || expires > tool.MaxConfirmationExpires) {
		return refusal.New(tool.Invalid, at+"/expires_s", "%d seconds: expected %d to %d", c.ExpiresSeconds,
			int(tool.MinConfirmationExpires.Seconds()), int(tool.MaxConfirmationExpires.Seconds()))
	}
	return nil
}
