package v1_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"nothing":            {``, ``},
		"no JSON":            {`{"api_key":`, ``},
		"spellings":          {`{"api_key":"x","apiKey":"x","API-Key":1,"token":"x","client_secret":"x"}`, `{"api_key":"[redacted]","apiKey":"[redacted]","API-Key":"[redacted]","token":"[redacted]","client_secret":"[redacted]"}`},
		"nested":             {`{"headers":{"Authorization":["Bearer x"]},"token":{"value":"x"}}`, `{"headers":{"Authorization":["[redacted]"]},"token":{"value":"[redacted]"}}`},
		"references":         {`{"auth":{"credentials_ref":"shop"},"max_tokens":100,"headers":{"X-Token":{"from":"/t"}}}`, `{"auth":{"credentials_ref":"shop"},"max_tokens":100,"headers":{"X-Token":{"from":"/t"}}}`},
		"numbers stay exact": {`{"n":12345678901234567890.10}`, `{"n":12345678901234567890.10}`},
	} {
		got := v1.Redact(json.RawMessage(c.in))
		if c.want == "" {
			require.Empty(t, got, name)
			continue
		}
		require.JSONEq(t, c.want, string(got), name)
		require.NotContains(t, string(got), `"x"`, name)
	}
	require.Contains(t, string(v1.Redact(json.RawMessage(`{"n":12345678901234567890.10}`))), "12345678901234567890.10")
}
