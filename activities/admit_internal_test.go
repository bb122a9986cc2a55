package activities

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// admitting is a ledger that admits every call under a policy.
type admitting struct {
	ledger.Ledger
	policy tool.Policy
}

func (l admitting) Admit(context.Context, ledger.AdmitRequest) (ledger.Ticket, error) {
	return ledger.Ticket{Fence: 1, Policy: l.policy}, nil
}

// Admission decides by the policy that the ledger read: a permission that was
// required after the call was prepared stops it.
func TestAdmissionDecidesThePolicy(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		held   []string
		policy tool.Policy
		kind   tool.Kind // Empty when the call is admitted.
	}{
		"Nothing":        {},
		"PermissionHeld": {held: []string{"orders.write"}, policy: tool.Policy{RequiredPermission: "orders.write"}},
		"PermissionAll":  {held: []string{"*"}, policy: tool.Policy{RequiredPermission: "orders.write"}},
		"PermissionMissing": {
			held:   []string{"orders.read"},
			policy: tool.Policy{RequiredPermission: "orders.write"},
			kind:   tool.Denied,
		},
		"Approval": {policy: tool.Policy{RequiresApproval: true}, kind: tool.Denied},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in := &wire.InvokeInput{}
			in.Principal.Permissions = tt.held
			_, err := (&Activities{Config: Config{Ledger: admitting{policy: tt.policy}}}).admit(t.Context(), in)
			if tt.kind == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, tt.kind, tool.KindOf(err))
		})
	}
}
