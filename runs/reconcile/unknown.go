package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// maxUnknown bounds the calls of unknown outcome in a report.
const maxUnknown = 500

// UnknownCall is a call that may have had an effect, and what to check.
type UnknownCall struct {
	Tenant       tool.TenantID `json:"tenant_id"`
	InvocationID string        `json:"invocation_id"`
	RunID        string        `json:"run_id,omitempty"`
	Turn         int           `json:"turn,omitempty"`
	Position     int           `json:"position"`
	CallID       string        `json:"call_id"`
	Tool         string        `json:"tool"` // slug@version
	tool.Check
}

// unknownCalls lists the calls of all tenants whose outcome is unknown.
func (r *Reconciler) unknownCalls(ctx context.Context, since time.Time) ([]UnknownCall, error) {
	refs, err := r.cfg.Maintenance.UnknownCalls(ctx, since, maxUnknown)
	if err != nil {
		return nil, fmt.Errorf("listing calls of unknown outcome: %w", err)
	}
	out := make([]UnknownCall, 0, len(refs))
	for _, ref := range refs {
		call, err := r.cfg.Store.FindInvocation(ctx, ref.Tenant, ref.InvocationID)
		if tool.KindOf(err) == tool.NotFound {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading call %s: %w", ref.InvocationID, err)
		}
		check, err := r.Check(ctx, &call)
		if err != nil {
			return nil, err
		}
		out = append(out, UnknownCall{
			Tenant:       call.Principal.Tenant,
			InvocationID: call.InvocationID,
			RunID:        call.RunID,
			Turn:         call.Turn,
			Position:     call.Position,
			CallID:       call.CallID,
			Tool:         versioned(&call),
			Check:        check,
		})
	}
	return out, nil
}

// Check returns where to look for the effect of a call of unknown outcome.
func (r *Reconciler) Check(ctx context.Context, call *tool.Invocation) (tool.Check, error) {
	c := tool.Check{IdempotencyKey: call.EffectID}
	if call.StartedAt != nil {
		c.SentAfter = *call.StartedAt
	}
	if call.CompletedAt != nil {
		c.SentBefore = *call.CompletedAt
	}
	effect, err := r.cfg.Store.FindEffect(ctx, call.Principal.Tenant, call.EffectID)
	if err == nil {
		c.ArgumentsDigest = effect.ArgumentsDigest
	} else if tool.KindOf(err) != tool.NotFound {
		return c, fmt.Errorf("reading the effect of call %s: %w", call.InvocationID, err)
	}
	if call.ToolID != "" {
		version, err := r.cfg.Store.Version(ctx, call.Principal.Tenant, call.ToolID, call.Digest)
		if err == nil {
			c.Host, c.Method = destination(version.Snapshot.Definition.Config)
		} else if tool.KindOf(err) != tool.NotFound {
			return c, fmt.Errorf("reading the version of call %s: %w", call.InvocationID, err)
		}
	}
	// A tool of several destinations went where its approval says.
	asked, err := r.cfg.Store.FindApproval(ctx, call.Principal.Tenant, call.InvocationID)
	if err == nil && asked.Host != "" {
		c.Host = asked.Host
	} else if err != nil && tool.KindOf(err) != tool.NotFound {
		return c, fmt.Errorf("reading the approval of call %s: %w", call.InvocationID, err)
	}
	where := "the target of the tool"
	if c.Host != "" {
		where = c.Host
	}
	c.Advice = fmt.Sprintf("Check %s for a request with this Idempotency-Key, or these arguments, in this time. "+
		"If there is one, the effect has happened. If not, call the tool again: it is never retried automatically.",
		where)
	return c, nil
}

// destination returns the host and method in a tool's configuration.
func destination(config json.RawMessage) (host, method string) {
	var c struct {
		URL    string `json:"url"`
		Method string `json:"method"`
		Server struct {
			URL string `json:"url"`
		} `json:"server"`
	}
	if json.Unmarshal(config, &c) != nil {
		return "", ""
	}
	for _, address := range []string{c.URL, c.Server.URL} {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			return u.Host, c.Method
		}
	}
	return "", c.Method
}
