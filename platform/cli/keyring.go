package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/tool"
)

// KEKFlag adds the flag that names the file of key-encryption keys.
func KEKFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(
		file, "kek-file", "",
		"file of key-encryption keys ("+vault.FileVariable+"; "+vault.KeyVariable+" holds them itself)",
	)
}

// PayloadKeysFlag adds the flag that names the file of payload keys.
func PayloadKeysFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(
		file, "payload-keys-file", "",
		"file of the keys by which what goes through Temporal is encrypted ("+payload.FileVariable+"; "+
			payload.KeysVariable+" holds them itself)",
	)
}

// PayloadKeys returns the payload keys that the user means; nil for none.
func (a *App) PayloadKeys(file string) (*payload.Keyring, error) {
	keys, err := payload.FromEnvironment(func(name string) string {
		switch {
		case name == payload.FileVariable:
			return cmp.Or(file, a.Env.Getenv(name))
		case file != "":
			return ""
		}
		return a.Env.Getenv(name)
	})
	if err != nil {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "payloads", Msg: err.Error(), Err: err}
	}
	return keys, nil
}

// Keyring returns the key-encryption keys that the user means; nil for none.
func (a *App) Keyring(file string) (*vault.Keyring, error) {
	keys, err := vault.FromEnvironment(func(name string) string {
		if name == vault.FileVariable {
			return cmp.Or(file, a.Env.Getenv(name))
		}
		if file != "" {
			return ""
		}
		return a.Env.Getenv(name)
	})
	if err != nil {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "encryption", Msg: err.Error(), Err: err}
	}
	return keys, nil
}
