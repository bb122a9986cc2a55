package standing_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/standing"
	"github.com/toolcrib/toolcrib/wait"
)

func TestNames(t *testing.T) {
	t.Parallel()

	asked := wait.Approval{Tool: "refund", Version: "1.4.0", Agent: "desk", Requester: "user:ada"}
	for name, c := range map[string]struct {
		grant wait.Grant
		want  bool
	}{
		"the tool":        {wait.Grant{Tool: "refund"}, true},
		"another tool":    {wait.Grant{Tool: "refunds"}, false},
		"the version":     {wait.Grant{Tool: "refund", Version: "^1.2"}, true},
		"another version": {wait.Grant{Tool: "refund", Version: "~1.3.0"}, false},
		"no version":      {wait.Grant{Tool: "refund", Version: "newest"}, false},
		"the agent":       {wait.Grant{Tool: "refund", Agent: "desk", Requester: "user:ada"}, true},
		"another agent":   {wait.Grant{Tool: "refund", Agent: "shop"}, false},
		"somebody else":   {wait.Grant{Tool: "refund", Requester: "user:bob"}, false},
	} {
		require.Equal(t, c.want, standing.Names(&c.grant, &asked), name)
	}
}
