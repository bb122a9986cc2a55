package demo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"

	"github.com/toolcrib/toolcrib/examples/support-desk/shop"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/dev"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// startPlatform starts what "toolcrib dev" starts, with the company's
// functions, its credentials and access to its API.
func (d *demo) startPlatform(ctx context.Context) (string, error) {
	c := d.company
	stack := embedded.Config{DataDir: d.cfg.DataDir, Logger: d.log}
	if d.cfg.Throwaway {
		stack = embedded.Config{Throwaway: true, Headless: true, Logger: d.log}
	}
	models, err := d.openModels()
	if err != nil {
		return "", err
	}
	config := dev.Config{
		Stack:  stack,
		Tenant: tenantSlug(c.address, d.model),
		Worker: worker.Config{
			SandboxCommand: d.cfg.Sandbox, Functions: c.functions, SecretsDir: c.secrets, StopTimeout: stopTimeout / 2,
			Models: models,
			Allow:  map[tool.TenantID]worker.Allowance{"": {Hosts: []string{c.address}}},
		},
		Logger: d.log,
	}
	if d.platform, err = dev.Start(ctx, config); err != nil {
		return "", err
	}
	d.closeLater(func() error {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		return d.platform.Stop(stopping)
	})
	if d.api, err = client.New(client.Config{Server: d.platform.URL(), Key: d.platform.Key()}); err != nil {
		return "", err
	}
	d.closeLater(func() error { d.api.Close(); return nil })
	d.approver, err = client.New(client.Config{Server: d.platform.URL(), Key: d.platform.ApproverKey()})
	if err != nil {
		return "", err
	}
	d.closeLater(func() error { d.approver.Close(); return nil })
	return d.platform.URL() + ", tenant " + d.platform.Tenant().Slug, nil
}

// tenantSlug names the tenant: one for each address the shop was found at and
// each model, since a published version never changes, and what is in it
// neither.
func tenantSlug(address string, model pickedModel) string {
	slug := "demo"
	if model.live {
		sum := sha256.Sum256([]byte(model.name))
		slug += "-" + hex.EncodeToString(sum[:4])
	}
	if address != shop.Address {
		_, port, _ := net.SplitHostPort(address) // Ours has one.
		slug += "-" + port
	}
	return slug
}
