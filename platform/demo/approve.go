package demo

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// approve answers a call that waits for a person, as somebody else than who started the
// run: it approves what the shop's rules allow.
func (d *demo) approve(ctx context.Context, e tool.Event) error {
	if e.Type != tool.EventNeedsApproval {
		return nil
	}
	var asked agent.ApprovalAsked
	if err := json.Unmarshal(e.Data, &asked); err != nil {
		return fmt.Errorf("reading event %d: %w", e.Seq, err)
	}
	return d.step("a person approves "+asked.Tool, func() (string, error) {
		decided, err := d.approver.Approve(ctx, asked.ApprovalID, v1.Approve{
			Reason: "the rules allow it", Seen: asked.Binding,
		})
		return fmt.Sprintf("%s, as toolcrib approvals approve does", decided.Status), err
	})
}
