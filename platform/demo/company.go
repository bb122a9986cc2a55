package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib/examples/support-desk/desk"
	"github.com/toolcrib/toolcrib/examples/support-desk/shop"
	"github.com/toolcrib/toolcrib/executors/function"
)

// credential is the name under which the tools ask for the shop's token.
const credential = "shop-api"

// latency is how long the shop takes to answer, so that calls that run beside
// each other are seen to.
const latency = 80 * time.Millisecond

// company is the one whose support desk is shown: its API, its functions, and
// the secret that opens the API.
type company struct {
	address   string // Host and port of the API.
	service   *shop.Service
	token     string
	secrets   string // Directory of credentials.
	functions *function.Registry
	notebook  *desk.Notebook
	server    *http.Server
}

// openCompany serves the API on loopback, at its usual port or a free one, and
// writes a fresh token for it to a directory of secrets.
func openCompany(ctx context.Context, secrets string) (*company, error) {
	c := &company{
		token: rand.Text(), secrets: secrets, functions: function.NewRegistry(), notebook: &desk.Notebook{},
	}
	if err := desk.Define(c.functions, c.notebook); err != nil {
		return nil, err
	}
	var err error
	if c.service, err = shop.New(shop.Config{Token: c.token, Latency: latency, CarrierFailures: 1}); err != nil {
		return nil, err
	}
	listener, err := listen(ctx, shop.Address)
	if err != nil {
		return nil, err
	}
	c.address = listener.Addr().String()
	if err := c.writeSecret(); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	c.server = &http.Server{Handler: c.service, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = c.server.Serve(listener) }() // It ends when it is closed.
	return c, nil
}

// listen takes the preferred loopback address, or another port of it.
func listen(ctx context.Context, preferred string) (net.Listener, error) {
	var lc net.ListenConfig
	if l, err := lc.Listen(ctx, "tcp4", preferred); err == nil {
		return l, nil
	}
	l, err := lc.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	return l, nil
}

// writeSecret writes the token, and beside it the only host it may go to.
func (c *company) writeSecret() error {
	dir := filepath.Join(c.secrets, "_shared") // For all tenants.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of secrets: %w", err)
	}
	for name, text := range map[string]string{credential: c.token, credential + ".hosts": c.address} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			return fmt.Errorf("writing a secret: %w", err)
		}
	}
	return nil
}

func (c *company) close() error { return c.server.Close() }
