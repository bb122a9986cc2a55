package view

import (
	"github.com/toolcrib/toolcrib/internal/linktoken"
	"github.com/toolcrib/toolcrib/tool"
)

// Path is the path of the pages; the token of a link follows.
const Path = "/v/"

// tokens are those of this package.
const tokens linktoken.Kind = "tcv_"

// Token opens a view.
type Token = linktoken.Token

// NewToken makes a token for a view. It fails with tool.Invalid where an id is none.
func NewToken(tenant tool.TenantID, id string) (Token, error) { return tokens.New(tenant, id) }

// ReadToken reads a token, and reports whether it has the form of one.
func ReadToken(text string) (Token, bool) { return tokens.Read(text) }
