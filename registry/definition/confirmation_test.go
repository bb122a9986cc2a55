package definition_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

func TestConfirmationGuardrails(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ confirmation, path string }{
		"no CEL":                       {`{"when":"input.amount >"}`, "/interaction/confirmation/when"},
		"no condition":                 {`{"when":"1 + 2"}`, "/interaction/confirmation/when"},
		"no such name":                 {`{"message":"{{ amount }}"}`, "/interaction/confirmation/message"},
		"many approvals":               {`{"approvals":11}`, "/interaction/confirmation/approvals"},
		"few approvals":                {`{"approvals":-1}`, "/interaction/confirmation/approvals"},
		"a short time":                 {`{"expires_s":5}`, "/interaction/confirmation/expires_s"},
		"a long time":                  {`{"expires_s":99999999}`, "/interaction/confirmation/expires_s"},
		"everything":                   {`{"when":"input.a > 1","message":"{{ input.a }}","approvals":2,"expires_s":600}`, ""},
		"an escalation":                {`{"escalate_after_s":600,"escalate_to":"approvals.escalated"}`, ""},
		"an escalation to nobody":      {`{"escalate_after_s":600}`, "/interaction/confirmation/escalate_to"},
		"an escalation without a time": {`{"escalate_to":"a.b"}`, "/interaction/confirmation/escalate_after_s"},
		"an escalation at once":        {`{"escalate_to":"a.b","escalate_after_s":-1}`, "/interaction/confirmation/escalate_after_s"},
		"an escalation after the end": {
			`{"escalate_to":"a.b","escalate_after_s":600,"expires_s":600}`,
			"/interaction/confirmation/escalate_after_s",
		},
		"nothing but that":               {`{}`, ""},
		"a misspelt member":              {`{"when":"input.b > 1"}`, "/interaction/confirmation/when"},
		"a misspelt member of a message": {`{"message":"{{ input[\"b\"] }}"}`, "/interaction/confirmation/message"},
		"a member that may be there":     {`{"when":"has(input.a) && input[\"a\"] > 1"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := definition.Parse([]byte(`{"slug":"refundOrder","description":"Refunds an order.","implementation_type":"internal",
				"input_schema":{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false},"confirmation":` + c.confirmation + `}`))
			require.NoError(t, err)
			err = d.Tool.CheckContent(nil)
			if c.path == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			require.Equal(t, c.path, tool.AsError(err).Path)
		})
	}
}
