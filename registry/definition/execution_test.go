package definition_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

func TestTenantMaxConcurrencyGuardrails(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ definition, path string }{
		"a limit":       {`"execution":{"tenant_max_concurrency":4}`, ""},
		"at top level":  {`"tenant_max_concurrency":4`, ""},
		"negative":      {`"execution":{"tenant_max_concurrency":-1}`, "/execution/tenant_max_concurrency"},
		"too many":      {`"execution":{"tenant_max_concurrency":1001}`, "/execution/tenant_max_concurrency"},
		"the fast lane": {`"execution":{"is_pure":true,"tenant_max_concurrency":4,"lane":"fast"}`, "/execution/lane"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := definition.Parse([]byte(`{"slug":"sendMail","description":"Sends a mail.","implementation_type":"internal",
				"input_schema":{"type":"object","properties":{"to":{"type":"string"}}},` + c.definition + `}`))
			require.NoError(t, err)
			err = d.Tool.CheckContent(nil)
			if c.path == "" {
				require.NoError(t, err)
				require.Equal(t, 4, d.Tool.Execution.TenantMaxConcurrency)
				return
			}
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			require.Equal(t, c.path, tool.AsError(err).Path)
		})
	}
}

func TestInlineBytesGuardrails(t *testing.T) {
	t.Parallel()

	for written, path := range map[string]string{
		`"execution":{"inline_bytes":4096}`: "", `"inline_bytes":4096`: "",
		`"inline_bytes":1023`: "/execution/inline_bytes", `"inline_bytes":65537`: "/execution/inline_bytes",
		`"inline_bytes":-1`: "/execution/inline_bytes",
	} {
		d, err := definition.Parse([]byte(`{"slug":"sendMail","description":"Sends a mail.","implementation_type":"internal",
			"input_schema":{"type":"object","properties":{"to":{"type":"string"}}},` + written + `}`))
		require.NoError(t, err)
		err = d.Tool.CheckContent(nil)
		if path == "" {
			require.NoError(t, err)
			require.Equal(t, 4096, d.Tool.Execution.InlineBytes)
			continue
		}
		require.Equal(t, tool.Invalid, tool.KindOf(err), written)
		require.Equal(t, path, tool.AsError(err).Path)
		require.ErrorContains(t, err, "1024 to 65536")
	}
}

func TestTrustGuardrails(t *testing.T) {
	t.Parallel()

	for written, want := range map[string]tool.Trust{
		`"execution":{"trust":"untrusted"}`: tool.Untrusted, `"trust":"trusted"`: tool.Trusted, `"execution":{}`: "",
		`"trust":"maybe"`: "maybe",
	} {
		d, err := definition.Parse([]byte(`{"slug":"readMail","description":"Reads a mail.","implementation_type":"internal",
			"input_schema":{"type":"object","properties":{"of":{"type":"string"}}},` + written + `}`))
		require.NoError(t, err)
		require.Equal(t, want, d.Tool.Execution.Trust)
		err = d.Tool.CheckContent(nil)
		if want.Valid() {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, tool.Invalid, tool.KindOf(err), written)
		require.Equal(t, "/execution/trust", tool.AsError(err).Path)
	}
}
