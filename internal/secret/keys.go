package secret

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/internal/redact"
)

// SensitiveKey is [redact.SensitiveKey].
func SensitiveKey(name string) bool { return redact.SensitiveKey(name) }

// RedactKeys is [redact.JSON].
func RedactKeys(raw json.RawMessage) json.RawMessage { return redact.JSON(raw) }
