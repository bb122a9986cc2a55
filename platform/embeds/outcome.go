package embeds

import (
	"cmp"
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/platform/publicform"
	"github.com/toolcrib/toolcrib/platform/publicresult"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolembed"
)

// Statuses of calls, as the page and its host see them. Hosts rely on them: never rename one.
const (
	running  = "running"
	approval = "waiting_for_approval"
	waiting  = "waiting" // For a result or an answer from outside.
	done     = "completed"
	failed   = "failed"
)

// maxOutput bounds the result that the host gets, and maxError why there is none, in bytes.
const (
	maxOutput = 64 << 10
	maxError  = 1000
)

// outcome is what became of a call.
type outcome struct {
	CallID   string                 `json:"call_id"` // The id of its run, which the host's backend can look up.
	Status   string                 `json:"status"`
	Sections []publicresult.Section `json:"sections,omitempty"`
	Rows     []publicform.Row       `json:"rows,omitempty"` // What no section shows.
	Text     string                 `json:"text,omitempty"`
	Output   string                 `json:"output,omitempty"` // As JSON in a text: scripts would lose digits of numbers.
	Error    string                 `json:"error,omitempty"`
}

// outcome reads the record of a call. What looks like a secret is masked: the result leaves for another site.
func (s *Service) outcome(ctx context.Context, g *toolembed.Grant, runID string) (outcome, error) {
	end, err := s.cfg.Record.FindCallEnd(ctx, g.Tenant, runID)
	if err != nil {
		return outcome{}, fmt.Errorf("reading how a call ended: %w", err)
	}
	out := outcome{CallID: runID, Status: running}
	switch {
	case !end.Status.Final():
		out.Status, err = s.waitsFor(ctx, g.Tenant, runID)
		return out, err
	case end.Result == nil:
		out.Status = failed
		out.Error = cmp.Or(end.CallMsg, end.Msg, "the call ended without a result")
		if end.CallStatus == tool.StatusRejected || end.CallStatus == tool.StatusExpired {
			out.Error = "The call was not approved."
		}
	case end.Result.IsError:
		out.Status, out.Error = failed, cmp.Or(publicform.Text(end.Result), "the tool answered no")
	default:
		raw := redact.JSON(publicform.Output(end.Result, maxOutput))
		out.Status, out.Output = done, string(raw)
		rest := raw
		// A version that is not found any more has no sections.
		if version, err := s.cfg.Calls.Tools.Version(ctx, g.Tenant, g.ToolID, g.Digest); err == nil {
			out.Sections, rest = publicresult.Read(version.Snapshot.Interaction.OutputSections, raw)
		}
		if rest != nil {
			out.Rows, out.Text = publicform.Rows(rest)
		}
	}
	out.Error = publicform.Clean(tool.Clip(out.Error, maxError))
	return out, nil
}

// waitsFor returns what a call that has not ended waits for.
func (s *Service) waitsFor(ctx context.Context, tenant tool.TenantID, runID string) (string, error) {
	calls, err := s.cfg.Record.ListInvocations(ctx, tenant, store.InvocationQuery{RunID: runID})
	if err != nil {
		return "", fmt.Errorf("reading the calls of a run: %w", err)
	}
	status := running
	for i := range calls {
		switch calls[i].Status { //nolint:exhaustive // Others go on, or have ended.
		case tool.StatusPending:
			return approval, nil
		case tool.StatusWaiting:
			status = waiting
		}
	}
	return status, nil
}
