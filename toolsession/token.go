package toolsession

import (
	"strings"

	"github.com/toolcrib/toolcrib/internal/linktoken"
	"github.com/toolcrib/toolcrib/tool"
)

// Path is the path of the pages; the token of a link follows.
const Path = "/s/"

// tokens are those of this package.
const tokens linktoken.Kind = "tcs_"

// Token opens the page of a session.
type Token = linktoken.Token

// NewToken makes a token for a session. It fails with tool.Invalid where an id is none.
func NewToken(tenant tool.TenantID, id string) (Token, error) { return tokens.New(tenant, id) }

// ReadToken reads a token, and reports whether it has the form of one.
func ReadToken(text string) (Token, bool) { return tokens.Read(text) }

// subject begins the subject of who submits by a link: the session itself.
const subject = "session:"

// Subject names who submits to a session by its link.
func Subject(id string) string { return subject + id }

// OfSubject returns the session of a subject of [Subject]; false for other subjects.
func OfSubject(text string) (id string, ok bool) {
	id, ok = strings.CutPrefix(text, subject)
	return id, ok && tool.ValidID(id)
}
