package webhook

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/tool"
)

// Service is the use cases of webhooks. It is safe for concurrent use.
type Service struct {
	store Store
	vault *vault.Vault
	check func(tenant tool.TenantID, url string) error
}

// NewService returns a service. Check refuses URLs that a tenant's webhooks may not be sent to,
// as far as that is known without resolving names.
func NewService(store Store, v *vault.Vault, check func(tenant tool.TenantID, url string) error) *Service {
	return &Service{store: store, vault: v, check: check}
}

// checkWebhook validates a webhook and its URL.
func (s *Service) checkWebhook(w *Webhook) error {
	if err := w.check(); err != nil {
		return err
	}
	if err := s.check(w.Tenant, w.URL); err != nil {
		return &tool.Error{
			Kind: tool.Invalid, Op: "webhook", Path: "/url", Err: err,
			Msg: "webhooks may not be sent to this URL: " + tool.AsError(err).Msg,
		}
	}
	return nil
}

// Create makes a webhook, and returns its secret, which cannot be read again. It fails with
// [vault.ErrNoKeys].
func (s *Service) Create(ctx context.Context, w Webhook) (made Webhook, secret string, err error) {
	if err := s.checkWebhook(&w); err != nil {
		return Webhook{}, "", err
	}
	if w.ID, err = uuid7.New(); err != nil {
		return Webhook{}, "", err
	}
	secret = NewSecret()
	w.Secret, err = s.vault.SealText(ctx, w.secretText(1), secret)
	if err != nil {
		return Webhook{}, "", err
	}
	made, err = s.store.CreateWebhook(ctx, w)
	return made, secret, err
}

// secretText returns the record of a version of the webhook's secret, for the vault.
func (w *Webhook) secretText(version int) vault.Text {
	return vault.Text{Tenant: w.Tenant, Record: SecretRecord, ID: w.ID, Version: version}
}

// Change lists changes of a webhook; nil fields are unchanged.
type Change struct {
	URL, Description, Agent, Tool *string
	Types                         []tool.EventType
	Active                        *bool
	Revision                      int64 // The expected one, unless it is zero: another fails with [ErrChanged].
}

// Change changes a webhook. One that becomes active gets the events from then on.
func (s *Service) Change(ctx context.Context, tenant tool.TenantID, id string, c Change) (Webhook, error) {
	w, err := s.find(ctx, tenant, id, c.Revision)
	if err != nil {
		return Webhook{}, err
	}
	for _, field := range []struct{ from, to *string }{
		{c.URL, &w.URL}, {c.Description, &w.Description}, {c.Agent, &w.Agent}, {c.Tool, &w.Tool},
	} {
		if field.from != nil {
			*field.to = *field.from
		}
	}
	if c.Types != nil {
		w.Types = c.Types
	}
	if c.Active != nil {
		w.Active = *c.Active
	}
	if err := s.checkWebhook(&w); err != nil {
		return Webhook{}, err
	}
	return s.store.ChangeWebhook(ctx, w)
}

// Rotate replaces the secret of a webhook, and returns the new one. The one before signs too for
// the overlap; zero for [DefaultOverlap], negative for none.
func (s *Service) Rotate(
	ctx context.Context, tenant tool.TenantID, id string, overlap time.Duration, revision int64,
) (w Webhook, secret string, err error) {
	if overlap == 0 {
		overlap = DefaultOverlap
	}
	if overlap > MaxOverlap {
		return Webhook{}, "", invalid("/overlap_s", "the overlap is longer than %s", MaxOverlap)
	}
	if w, err = s.find(ctx, tenant, id, revision); err != nil {
		return Webhook{}, "", err
	}
	secret = NewSecret()
	if w.Secret, err = s.vault.SealText(ctx, w.secretText(w.Secret.Version+1), secret); err != nil {
		return Webhook{}, "", err
	}
	w, err = s.store.RotateWebhookSecret(ctx, w, max(overlap, 0))
	return w, secret, err
}

func (s *Service) find(ctx context.Context, tenant tool.TenantID, id string, revision int64) (Webhook, error) {
	w, err := s.store.FindWebhook(ctx, tenant, id)
	if err == nil && revision != 0 && w.Revision != revision {
		return Webhook{}, Changed()
	}
	return w, err
}

// Changed returns the error of a change of a webhook that another one came before.
func Changed() error {
	return &tool.Error{Kind: tool.Conflict, Op: "webhook", Msg: ErrChanged.Error(), Err: ErrChanged}
}

// Secrets returns the secrets that sign a delivery, the current one first.
func Secrets(ctx context.Context, v *vault.Vault, d Due) ([]string, error) {
	current, err := v.OpenText(ctx, d.Webhook.Secret)
	if err != nil || !d.OldSigns || d.Webhook.OldSecret == nil {
		return []string{current}, err
	}
	old, err := v.OpenText(ctx, *d.Webhook.OldSecret)
	return []string{current, old}, err
}
