package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

const deliveryUnknown = "delivery not found"

// PingWebhook implements [webhook.Store].
func (s *Store) PingWebhook(ctx context.Context, tenant tool.TenantID, id string) (webhook.Delivery, error) {
	const op = "store.PingWebhook"
	if !tool.ValidID(id) {
		return webhook.Delivery{}, notFound(op, webhookUnknown)
	}
	delivery, err := uuid7.New()
	if err != nil {
		return webhook.Delivery{}, err
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).AddPing, db.AddPingParams{
		TenantID: string(tenant), ID: delivery, WebhookID: id,
	})
	return deliveryOf(row), explain(err, tool.NotFound, webhookUnknown)
}

// FindDelivery implements [webhook.Store].
func (s *Store) FindDelivery(ctx context.Context, tenant tool.TenantID, hook, id string) (webhook.Delivery, error) {
	const op = "store.FindDelivery"
	if !tool.ValidID(hook) || !tool.ValidID(id) {
		return webhook.Delivery{}, notFound(op, deliveryUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindDelivery, db.FindDeliveryParams{
		TenantID: string(tenant), WebhookID: hook, ID: id,
	})
	return deliveryOf(row), explain(err, tool.NotFound, deliveryUnknown)
}

// ListDeliveries implements [webhook.Store].
func (s *Store) ListDeliveries(ctx context.Context, q webhook.DeliveryQuery) ([]webhook.Delivery, error) {
	const op = "store.ListDeliveries"
	if _, err := s.FindWebhook(ctx, q.Tenant, q.WebhookID); err != nil {
		return nil, err
	}
	if err := checkIDs(op, q.Before); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.doFiltered, op, q.Tenant, (*db.Queries).ListDeliveries, db.ListDeliveriesParams{
		TenantID: string(q.Tenant), WebhookID: q.WebhookID, Before: optional(q.Before), Status: string(q.Status),
		Type: text(string(q.Type)), Limit: pageSize(q.Limit),
	})
	return convert(rows, deliveryOf), err
}

// ReplayDelivery implements [webhook.Store].
func (s *Store) ReplayDelivery(ctx context.Context, tenant tool.TenantID, hook, id string) (webhook.Delivery, error) {
	const op = "store.ReplayDelivery"
	if _, err := s.FindDelivery(ctx, tenant, hook, id); err != nil {
		return webhook.Delivery{}, err
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).ReplayDelivery, db.ReplayDeliveryParams{
		TenantID: string(tenant), WebhookID: hook, ID: id,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return webhook.Delivery{}, &tool.Error{
			Kind: tool.Conflict, Op: op, Msg: "the delivery is pending: it is attempted already, and has nothing to replay",
		}
	}
	return deliveryOf(row), err
}

func deliveryOf(row db.WebhookDelivery) webhook.Delivery {
	d := webhook.Delivery{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), WebhookID: row.WebhookID, Type: tool.EventType(row.Type), At: row.At,
		RunID: value(row.RunID), InvocationID: value(row.InvocationID), ParentRunID: value(row.ParentRunID), Agent: row.Agent,
		Data: row.Data, Status: webhook.DeliveryStatus(row.Status), Attempts: int(row.Attempts), Replays: int(row.Replays),
		CreatedAt: row.CreatedAt, DueAt: row.DueAt, EndedAt: row.EndedAt, LastAttemptAt: row.LastAttemptAt,
		LastDuration: time.Duration(row.LastMs) * time.Millisecond, LastStatus: int(row.LastStatus),
		LastError: row.LastError, LastAnswer: row.LastAnswer,
	}
	if row.RunSeq != nil {
		d.RunSeq = *row.RunSeq
	}
	return d
}
