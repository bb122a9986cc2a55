package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/audit"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// AuditQuery filters the audit log. Zero fields do not filter.
type AuditQuery struct {
	Actor   string // Subject.
	Action  string // An action, or a kind of object for all of its actions.
	Object  string // Id or name.
	Outcome audit.Outcome
	Since   time.Time
	Until   time.Time
	Page
}

// ListAudit returns a page of the audit log, newest first.
func (c *Client) ListAudit(ctx context.Context, q AuditQuery) (v1.Page[v1.AuditEntry], error) {
	return list[v1.AuditEntry](ctx, c, q.query(
		"actor", q.Actor, "action", q.Action, "object", q.Object, "outcome", q.Outcome, "since", q.Since, "until", q.Until,
	), "audit")
}

// Audit returns a row of the audit log.
func (c *Client) Audit(ctx context.Context, id string) (v1.AuditEntry, error) {
	return get[v1.AuditEntry](ctx, c, nil, "audit", id)
}

// VerifyAudit verifies the chain of the audit log behind a head that was verified before, or
// from the beginning with the zero one. It asks as often as it takes.
func (c *Client) VerifyAudit(ctx context.Context, from audit.Head) (v1.AuditReport, error) {
	for {
		report, err := get[v1.AuditReport](ctx, c, query("after_seq", from.Seq, "after_hash", from.Hash), "audit", "verify")
		if err != nil || report.Complete {
			return report, err
		}
		from = audit.Head{Seq: report.Seq, Hash: report.Hash}
	}
}

// ExportAudit calls each with every sealed row after a number, in the order of the chain. It
// asks as often as it takes, and ends with the first failure of each.
func (c *Client) ExportAudit(ctx context.Context, after int64, each func(v1.AuditRecord) error) error {
	for {
		rows, err := c.exportAudit(ctx, after)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			if err := each(row); err != nil {
				return err
			}
		}
		after = rows[len(rows)-1].Seq
	}
}

func (c *Client) exportAudit(ctx context.Context, after int64) ([]v1.AuditRecord, error) {
	got, err := c.send(ctx, request{method: http.MethodGet, query: query("after_seq", after)},
		[]string{"v1", "audit", "export"})
	if err != nil {
		return nil, err
	}
	if got.status >= http.StatusMultipleChoices {
		return nil, c.problem(got)
	}
	var rows []v1.AuditRecord
	dec := json.NewDecoder(bytes.NewReader(got.body))
	for dec.More() {
		var row v1.AuditRecord
		if err := dec.Decode(&row); err != nil {
			return nil, fmt.Errorf("reading row %d of the export: %w", len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}
