package dev

import (
	"fmt"
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/platform/dev/folder"
)

// ensureEncryption takes the key-encryption keys of the configuration, else
// those of the data folder, where it makes one on the first start.
func (d *Dev) ensureEncryption() (err error) {
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
