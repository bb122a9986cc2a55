package api

import (
	"context"
	"encoding/json"
	"mime"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/internal/mediatype"
	"github.com/toolcrib/toolcrib/internal/redact"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// mask redacts values that look like secrets, by their name or form, in records
// that are returned: stored records of running calls hold them in plain text. A
// disabled mask returns records unchanged.
type mask bool

// maskOf returns the mask that a tenant has chosen, and one that is on with an error.
func (s *server) maskOf(ctx context.Context, tenant tool.TenantID) (mask, error) {
	own, err := s.cfg.Store.FindTenant(ctx, tenant)
	if err != nil {
		return true, err
	}
	return mask(own.MaskSensitive), nil
}

// changedMask returns the mask for a record that the request has changed. It
// masks when the tenant's choice cannot be read: an error would hide the change.
func (s *server) changedMask(ctx context.Context, tenant tool.TenantID) mask {
	shown, _ := s.maskOf(ctx, tenant)
	return shown
}

// masksAs reports whether a tenant masks as a stream does that was opened before. What cannot be read at the moment has
// not changed.
func (s *server) masksAs(ctx context.Context, tenant tool.TenantID, shown mask) bool {
	now, err := s.maskOf(ctx, tenant)
	return err != nil || now == shown
}

func (m mask) json(raw json.RawMessage) json.RawMessage {
	if !m || len(raw) == 0 {
		return raw
	}
	return redact.JSON(raw)
}

func (m mask) text(s string) string {
	if !m {
		return s
	}
	return redact.Text(s)
}

func (m mask) run(r agent.Run) v1.Run {
	shown := v1.FromRun(r)
	shown.Input, shown.Error = m.json(shown.Input), m.text(shown.Error)
	return shown
}

func (m mask) auditEntry(e audit.Entry) v1.AuditEntry {
	e.Before, e.After = m.json(e.Before), m.json(e.After)
	return v1.FromAudit(e)
}

func (m mask) node(r graph.Record) v1.Node {
	shown := v1.FromNode(r)
	shown.Item, shown.Result, shown.State = m.json(shown.Item), m.json(shown.Result), m.json(shown.State)
	shown.Text, shown.Error = m.text(shown.Text), m.text(shown.Error)
	return shown
}

func (m mask) approval(a wait.Approval) v1.Approval {
	shown := v1.FromApproval(a)
	shown.Arguments, shown.Edited, shown.Reason = m.json(a.Arguments), m.json(a.Edited), m.text(a.Reason)
	for i := range shown.Decisions {
		d := &shown.Decisions[i]
		d.Edited, d.Reason = m.json(d.Edited), m.text(d.Reason)
	}
	return shown
}

// data masks bytes that are text by their media type.
func (m mask) data(mimeType string, raw []byte) []byte {
	media, _, _ := mime.ParseMediaType(mimeType) // A media type that does not parse is not text.
	switch {
	case !bool(m) || len(raw) == 0:
	case mediatype.IsJSON(media) && json.Valid(raw):
		return redact.JSON(raw)
	case strings.HasPrefix(media, "text/"):
		return []byte(redact.Text(string(raw)))
	}
	return raw
}

// request masks the arguments of a call, but not its answer.
func (m mask) request(i tool.Invocation) v1.Invocation {
	shown := m.invocation(i)
	shown.Output = i.Output
	return shown
}

func (m mask) content(blocks []tool.Content) []tool.Content {
	if !m {
		return blocks
	}
	blocks = slices.Clone(blocks)
	for i := range blocks {
		b := &blocks[i]
		b.Text, b.JSON, b.URI, b.Data = m.text(b.Text), m.json(b.JSON), m.text(b.URI), m.data(b.MIMEType, b.Data)
	}
	return blocks
}

func (m mask) message(msg agent.Message) agent.Message {
	msg.Content = m.content(msg.Content)
	msg.Calls = slices.Clone(msg.Calls)
	for i := range msg.Calls {
		msg.Calls[i].Arguments = m.json(msg.Calls[i].Arguments)
	}
	return msg
}

func (m mask) invocation(i tool.Invocation) v1.Invocation {
	i.Input, i.Receipt, i.Error = m.json(i.Input), m.json(i.Receipt), m.text(i.Error)
	if i.Output != nil {
		out := *i.Output
		out.Content, out.Structured = m.content(out.Content), m.json(out.Structured)
		out.Warnings = slices.Clone(out.Warnings)
		for at := range out.Warnings {
			out.Warnings[at] = m.text(out.Warnings[at])
		}
		out.Mismatch = m.text(out.Mismatch)
		i.Output = &out
	}
	return v1.FromInvocation(i)
}

func (m mask) event(e tool.Event) tool.Event {
	e.Data = m.json(e.Data)
	return e
}
