package dev

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/platform/dev/folder"
)

// ensureEncryption takes the key-encryption keys of the configuration, else
// those of the data folder, where it makes one on the first start. Payloads are encrypted
// only where keys are given: here one looks at them in Temporal's UI.
func (d *Dev) ensureEncryption() (err error) {
	if d.payloads = d.cfg.Worker.PayloadKeys; d.payloads == nil {
		if d.payloads, err = payload.FromEnvironment(os.Getenv); err != nil {
			return err
		}
	}
	if keys := d.cfg.Worker.KeyEncryption; len(keys) > 0 {
		d.keys, err = vault.NewKeyring(keys...)
		return err
	}
	d.keys, err = vault.EnsureKeyFile(filepath.Join(d.stack.DataDir(), KEKFile))
	if err != nil {
		return folder.Explain(d.stack.DataDir(), fmt.Errorf("preparing encryption: %w", err))
	}
	return nil
}
