package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

const webhookUnknown = "webhook not found"

// CreateWebhook implements [webhook.Store].
func (s *Store) CreateWebhook(ctx context.Context, w webhook.Webhook) (webhook.Webhook, error) {
	const op = "store.CreateWebhook"
	if err := checkIDs(op, w.ID); err != nil {
		return webhook.Webhook{}, err
	}
	end, err := s.EventHorizon(ctx, w.Tenant)
	if err != nil {
		return webhook.Webhook{}, err
	}
	var row db.Webhook
	err = s.inTx(ctx, op, w.Tenant, func(q *db.Queries) error {
		if err := q.LockNumber(ctx, db.LockNumberParams{Of: "webhooks", TenantID: string(w.Tenant)}); err != nil {
			return err
		}
		n, err := q.CountWebhooks(ctx, string(w.Tenant))
		if err != nil {
			return err
		}
		if n >= webhook.MaxWebhooks {
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"the tenant has %d webhooks, which is the most: delete one first", n)}
		}
		row, err = q.CreateWebhook(ctx, db.CreateWebhookParams{
			TenantID: string(w.Tenant), ID: w.ID, URL: text(w.URL), Description: text(w.Description), Types: typeNames(w.Types),
			Agent: text(w.Agent), Tool: text(w.Tool), Active: w.Active, Secret: w.Secret.Ciphertext,
			SecretKeyVersion: number(w.Secret.KeyVersion), SeenSeq: int64(end), CreatedBy: text(w.CreatedBy),
		})
		return err
	})
	return webhookOf(row), explain(err, tool.NotFound, "tenant not found")
}

// FindWebhook implements [webhook.Store].
func (s *Store) FindWebhook(ctx context.Context, tenant tool.TenantID, id string) (webhook.Webhook, error) {
	const op = "store.FindWebhook"
	if !tool.ValidID(id) {
		return webhook.Webhook{}, notFound(op, webhookUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindWebhook, db.FindWebhookParams{
		TenantID: string(tenant), ID: id,
	})
	return webhookOf(row), explain(err, tool.NotFound, webhookUnknown)
}

// ListWebhooks implements [webhook.Store].
func (s *Store) ListWebhooks(
	ctx context.Context, tenant tool.TenantID, before string, limit int,
) ([]webhook.Webhook, error) {
	const op = "store.ListWebhooks"
	if err := checkIDs(op, before); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListWebhooks, db.ListWebhooksParams{
		TenantID: string(tenant), Before: optional(before), Limit: pageSize(limit),
	})
	return convert(rows, webhookOf), err
}

// ChangeWebhook implements [webhook.Store].
func (s *Store) ChangeWebhook(ctx context.Context, w webhook.Webhook) (webhook.Webhook, error) {
	const op = "store.ChangeWebhook"
	if err := checkIDs(op, w.ID); err != nil {
		return webhook.Webhook{}, err
	}
	end, err := s.EventHorizon(ctx, w.Tenant)
	if err != nil {
		return webhook.Webhook{}, err
	}
	row, err := ask(ctx, s.do, op, w.Tenant, (*db.Queries).ChangeWebhook, db.ChangeWebhookParams{
		TenantID: string(w.Tenant), ID: w.ID, Revision: w.Revision, URL: text(w.URL), Description: text(w.Description),
		Types: typeNames(w.Types), Agent: text(w.Agent), Tool: text(w.Tool), Active: w.Active, SeenSeq: int64(end),
	})
	return webhookOf(row), changedWebhook(err)
}

// RotateWebhookSecret implements [webhook.Store].
func (s *Store) RotateWebhookSecret(
	ctx context.Context, w webhook.Webhook, overlap time.Duration,
) (webhook.Webhook, error) {
	const op = "store.RotateWebhookSecret"
	if err := checkIDs(op, w.ID); err != nil {
		return webhook.Webhook{}, err
	}
	row, err := ask(ctx, s.do, op, w.Tenant, (*db.Queries).RotateWebhookSecret, db.RotateWebhookSecretParams{
		TenantID: string(w.Tenant), ID: w.ID, Revision: w.Revision, Secret: w.Secret.Ciphertext,
		SecretKeyVersion: number(w.Secret.KeyVersion), OverlapS: overlap.Seconds(),
	})
	return webhookOf(row), changedWebhook(err)
}

// changedWebhook returns the error of a change by revision.
func changedWebhook(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return webhook.Changed()
	}
	return err
}

// DeleteWebhook implements [webhook.Store].
func (s *Store) DeleteWebhook(
	ctx context.Context, tenant tool.TenantID, id string, revision int64,
) (webhook.Webhook, error) {
	const op = "store.DeleteWebhook"
	if !tool.ValidID(id) {
		return webhook.Webhook{}, notFound(op, webhookUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).DeleteWebhook, db.DeleteWebhookParams{
		TenantID: string(tenant), ID: id, Revision: revision,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		if _, found := s.FindWebhook(ctx, tenant, id); found != nil {
			return webhook.Webhook{}, found
		}
		return webhook.Webhook{}, webhook.Changed()
	}
	return webhookOf(row), err
}

// ListSealedTexts implements [vault.Store].
func (s *Store) ListSealedTexts(
	ctx context.Context, tenant tool.TenantID, keyVersion, limit int,
) ([]vault.Text, error) {
	const op = "store.ListSealedTexts"
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListSealedWebhooks, db.ListSealedWebhooksParams{
		TenantID: string(tenant), KeyVersion: number(keyVersion), Limit: pageSize(limit),
	})
	var out []vault.Text
	for _, row := range rows {
		w := webhookOf(row)
		if w.Secret.KeyVersion < keyVersion {
			out = append(out, w.Secret)
		}
		if w.OldSecret != nil && w.OldSecret.KeyVersion < keyVersion {
			out = append(out, *w.OldSecret)
		}
	}
	return out, err
}

// ResealText implements [vault.Store].
func (s *Store) ResealText(ctx context.Context, t vault.Text) (bool, error) {
	const op = "store.ResealText"
	if err := checkIDs(op, t.ID); err != nil {
		return false, err
	}
	n, err := ask(ctx, s.do, op, t.Tenant, (*db.Queries).ResealWebhookSecret, db.ResealWebhookSecretParams{
		TenantID: string(t.Tenant), ID: t.ID, Version: number(t.Version), KeyVersion: number(t.KeyVersion),
		Ciphertext: t.Ciphertext,
	})
	if err != nil || n > 0 {
		return n > 0, err
	}
	n, err = ask(ctx, s.do, op, t.Tenant, (*db.Queries).ResealOldWebhookSecret, db.ResealOldWebhookSecretParams{
		TenantID: string(t.Tenant), ID: t.ID, Version: number(t.Version + 1), KeyVersion: number(t.KeyVersion),
		Ciphertext: t.Ciphertext,
	})
	return n > 0, err
}

func typeNames(types []tool.EventType) []string {
	return convert(types, func(t tool.EventType) string { return text(string(t)) })
}

func webhookOf(row db.Webhook) webhook.Webhook {
	w := webhook.Webhook{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), URL: row.URL, Description: row.Description,
		Types: convert(row.Types, func(t string) tool.EventType { return tool.EventType(t) }),
		Agent: row.Agent, Tool: row.Tool, Active: row.Active, DisabledAt: row.DisabledAt, DisabledReason: row.DisabledReason,
		Secret: vault.Text{
			Tenant: tool.TenantID(row.TenantID), Record: webhook.SecretRecord, ID: row.ID, Version: int(row.SecretVersion),
			KeyVersion: int(row.SecretKeyVersion), Ciphertext: row.Secret,
		},
		OldSecretUntil: row.OldSecretUntil, FailingSince: row.FailingSince, DeliveredAt: row.DeliveredAt,
		Revision: row.Revision, CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
	if row.OldSecretKeyVersion != nil {
		old := w.Secret
		old.Version, old.KeyVersion, old.Ciphertext = old.Version-1, int(*row.OldSecretKeyVersion), row.OldSecret
		w.OldSecret = &old
	}
	return w
}
