package worker

import (
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook/deliver"
)

// CheckWebhook refuses URLs that a tenant's webhooks may not be sent to, under the same rules as
// calls of the plugin's workers, as far as that is known without resolving names.
func (p *Plugin) CheckWebhook(tenant tool.TenantID, url string) error {
	return deliver.Checker(p.gate)(tenant, url)
}

// Webhooks returns what sends the deliveries of webhooks, under the same rules as calls of the
// plugin's workers. The caller runs it, and stops it before it closes the plugin.
func (p *Plugin) Webhooks() (*deliver.Deliverer, error) {
	return deliver.New(deliver.Config{
		Outbox: p.store, Vault: p.vault, Gate: p.gate, Observer: p.telemetry.Webhooks(), Logger: p.cfg.Logger,
	})
}
