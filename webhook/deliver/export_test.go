package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

// oneKey is a store of a vault with one data key.
type oneKey struct {
	vault.Store
	key *vault.DataKey
}

func (s *oneKey) NewestDataKey(context.Context, tool.TenantID) (vault.DataKey, error) {
	if s.key == nil {
		return vault.DataKey{}, &tool.Error{Kind: tool.NotFound}
	}
	return *s.key, nil
}

func (s *oneKey) AddDataKey(_ context.Context, k vault.DataKey) (vault.DataKey, error) {
	s.key = &k
	return k, nil
}

func (s *oneKey) ListDataKeys(context.Context, tool.TenantID) ([]vault.DataKeyUse, error) {
	return []vault.DataKeyUse{{DataKey: *s.key}}, nil
}

// SendOnce makes one attempt to send to a URL, as a deliverer does, without a database.
func SendOnce(ctx context.Context, gate *egress.Gate, keys *vault.Keyring, url string) error {
	const tenant = "01890000-0000-7000-8000-000000000001"
	v := vault.New(&oneKey{}, vault.Options{Keys: keys})
	text, err := v.SealText(ctx, vault.Text{Tenant: tenant, ID: "w", Version: 1}, webhook.NewSecret())
	if err != nil {
		return err
	}
	d := &Deliverer{cfg: Config{Gate: gate, Vault: v, Retry: retryDelay}}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out := d.send(ctx, webhook.Due{
		Delivery: webhook.Delivery{ID: "d", Tenant: tenant, Type: webhook.EventQuarantined},
		Webhook:  webhook.Webhook{Tenant: tenant, URL: url, Secret: text},
	})
	if out.Status == webhook.Delivered {
		return nil
	}
	return errors.New(out.Error)
}
