package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

const (
	// scanBatch is the number of events that deliveries are made of in one transaction.
	scanBatch = 1000
	// maxDeliverySweep is the number of deliveries deleted in one transaction.
	maxDeliverySweep = 1000
)

// WebhookTenants implements [webhook.Outbox].
func (s *Store) WebhookTenants(ctx context.Context, limit int) ([]tool.TenantID, error) {
	var raw []byte
	err := s.doGlobal(ctx, "store.WebhookTenants", func(q *db.Queries) (err error) {
		raw, err = q.WebhookTenants(ctx, number(limit))
		return err
	})
	if err != nil {
		return nil, err
	}
	var tenants []tool.TenantID
	return tenants, decode(raw, &tenants)
}

// MakeDeliveries implements [webhook.Outbox].
func (s *Store) MakeDeliveries(ctx context.Context, tenant tool.TenantID) (int, error) {
	const op = "store.MakeDeliveries"
	if err := s.SealEvents(ctx, tenant); err != nil {
		return 0, err
	}
	for total := 0; ; {
		row, err := ask(ctx, s.do, op, tenant, (*db.Queries).MakeDeliveries, db.MakeDeliveriesParams{
			TenantID: string(tenant), Most: scanBatch,
		})
		total += int(row.Made)
		if err != nil || row.Scanned < scanBatch {
			return total, err
		}
	}
}

// ClaimDeliveries implements [webhook.Outbox].
func (s *Store) ClaimDeliveries(
	ctx context.Context, tenant tool.TenantID, c webhook.Claim,
) ([]webhook.Due, error) {
	const op = "store.ClaimDeliveries"
	if err := checkLease(op, c.Lease); err != nil {
		return nil, err
	}
	var rows []db.OpenDeliveriesRow
	err := s.inTx(ctx, op, tenant, func(q *db.Queries) error {
		ids, err := q.ClaimDeliveries(ctx, db.ClaimDeliveriesParams{
			TenantID: string(tenant), LeaseS: c.Lease.Seconds(), Each: number(c.Each), Most: number(c.Most),
		})
		if err != nil || len(ids) == 0 {
			return err
		}
		rows, err = q.OpenDeliveries(ctx, db.OpenDeliveriesParams{TenantID: string(tenant), Ids: ids})
		return err
	})
	return convert(rows, func(row db.OpenDeliveriesRow) webhook.Due {
		return webhook.Due{
			Delivery: deliveryOf(row.WebhookDelivery), Webhook: webhookOf(row.Webhook), Fence: row.WebhookDelivery.Fence,
			OldSigns: row.OldSigns, Sensitive: row.MaskSensitive,
		}
	}), err
}

// EndAttempt implements [webhook.Outbox].
func (s *Store) EndAttempt(ctx context.Context, a webhook.Attempt) (disabled bool, err error) {
	const op = "store.EndAttempt"
	if err := checkIDs(op, a.ID); err != nil {
		return false, err
	}
	err = s.inTx(ctx, op, a.Tenant, func(q *db.Queries) error {
		disabled = false
		row, err := q.EndAttempt(ctx, db.EndAttemptParams{
			TenantID: string(a.Tenant), ID: a.ID, Fence: a.Fence, Status: string(a.Status), DelayS: a.Delay.Seconds(),
			Ms: a.Duration.Milliseconds(), HttpStatus: number(a.Code), Error: text(a.Error), Answer: text(a.Answer),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: "another server has the delivery, or it has ended"}
		}
		if err != nil || tool.EventType(row.Type) == webhook.EventPing {
			return err
		}
		e := &attemptEnd{q: q, tenant: string(a.Tenant), row: row, attempt: a}
		if a.Status == webhook.Delivered {
			return q.WebhookDelivered(ctx, db.WebhookDeliveredParams{TenantID: e.tenant, ID: row.WebhookID})
		}
		disabled, err = e.failed(ctx)
		return err
	})
	return disabled, err
}

// attemptEnd records on a webhook that an attempt failed.
type attemptEnd struct {
	q       *db.Queries
	tenant  string
	row     db.EndAttemptRow
	attempt webhook.Attempt
}

func (e *attemptEnd) failed(ctx context.Context) (disabled bool, err error) {
	if e.row.FirstAttemptAt == nil || e.row.LastAttemptAt == nil {
		return false, &tool.Error{Kind: tool.InternalError, Op: "store.EndAttempt", Msg: "the delivery was never attempted"}
	}
	err = e.q.WebhookFailed(ctx, db.WebhookFailedParams{
		TenantID: e.tenant, ID: e.row.WebhookID, Since: *e.row.LastAttemptAt,
	})
	if err != nil || e.attempt.Status == webhook.Pending && e.attempt.Disable == "" {
		return false, err
	}
	reason, shared := e.attempt.Disable, e.attempt.Disable
	if reason == "" {
		since := fmt.Sprintf("nothing was delivered since %s, and a delivery failed for good: ",
			e.row.FirstAttemptAt.UTC().Format("2006-01-02 15:04:05Z"))
		reason, shared = since+e.attempt.Error, since+e.attempt.Shared()
	}
	hook, err := e.q.DisableWebhook(ctx, db.DisableWebhookParams{
		TenantID: e.tenant, ID: e.row.WebhookID, Reason: text(reason), AtOnce: e.attempt.Disable != "",
		Since: *e.row.FirstAttemptAt,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	data, err := encodePayload(webhook.Disabled{
		WebhookID: hook.ID, Description: hook.Description, Reason: text(shared),
	})
	if err != nil {
		return false, err
	}
	return true, e.q.AddNotice(ctx, db.AddNoticeParams{
		TenantID: e.tenant, Type: string(webhook.EventDisabled), Data: data,
	})
}

// ReleaseDelivery implements [webhook.Outbox].
func (s *Store) ReleaseDelivery(ctx context.Context, tenant tool.TenantID, id string, fence int64) error {
	const op = "store.ReleaseDelivery"
	if err := checkIDs(op, id); err != nil {
		return err
	}
	return s.do(ctx, op, tenant, func(q *db.Queries) error {
		return q.ReleaseDelivery(ctx, db.ReleaseDeliveryParams{TenantID: string(tenant), ID: id, Fence: fence})
	})
}

// SweepDeliveries implements [webhook.Outbox].
func (s *Store) SweepDeliveries(ctx context.Context) (int, error) {
	for total := 0; ; {
		var gone int32
		err := s.doGlobal(ctx, "store.SweepDeliveries", func(q *db.Queries) (err error) {
			gone, err = q.SweepDeliveries(ctx, maxDeliverySweep)
			return err
		})
		total += int(gone)
		if err != nil || gone < maxDeliverySweep {
			s.sweeps.note(string(RetainDeliveries), total, err)
			return total, err
		}
	}
}
