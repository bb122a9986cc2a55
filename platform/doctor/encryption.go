package doctor

import (
	"context"
	"strings"

	"github.com/toolcrib/toolcrib/internal/vault"
)

// encryption looks at the keys that credentials are encrypted by.
func encryption(_ context.Context, cfg Config) []Finding {
	f := Finding{Check: "encryption", Status: OK}
	switch {
	case cfg.EncryptionError != nil:
		f.Status, f.Found = Fail, cfg.EncryptionError.Error()
		f.Mend = "correct " + vault.FileVariable + ", or make a key with toolcrib encryption new-key FILE"
	case len(cfg.Encryption) > 0:
		f.Found = "credentials are encrypted by " + cfg.Encryption[0]
		if older := cfg.Encryption[1:]; len(older) > 0 {
			f.Found += ", and opened by " + strings.Join(older, ", ") + " too"
		}
	case cfg.DatabaseURL != "":
		f.Status, f.Found = Warn, "servers and workers have no key-encryption key, and keep no credentials"
		f.Mend = "toolcrib encryption new-key crib.kek, and set " + vault.FileVariable + "=crib.kek for all of them"
	default:
		f.Found = "toolcrib dev has a key of its own"
	}
	return []Finding{f}
}
