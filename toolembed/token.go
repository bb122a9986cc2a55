package toolembed

import (
	"github.com/toolcrib/toolcrib/internal/linktoken"
	"github.com/toolcrib/toolcrib/tool"
)

// tokens are those of this package.
const tokens linktoken.Kind = "tce_"

// Token is what runs a tool in a frame.
type Token = linktoken.Token

// NewToken makes a token for a grant. It fails with tool.Invalid where an id is none.
func NewToken(tenant tool.TenantID, id string) (Token, error) { return tokens.New(tenant, id) }

// ReadToken reads a token, and reports whether it has the form of one.
func ReadToken(text string) (Token, bool) { return tokens.Read(text) }
