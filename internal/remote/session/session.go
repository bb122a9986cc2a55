// Package session has the stored state of sessions with MCP servers.
package session

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Key identifies a session: of one run of one tenant with one server. It is used by that
// run only.
type Key struct {
	Tenant tool.TenantID
	RunID  string
	Server string // See [remote.Server.Key].
}

// Session is the negotiated state of a session, so that any worker can resume it.
type Session struct {
	// ID is the server's id of the session; empty for servers without sessions. Anyone
	// with the id can act as this client, so it is a secret.
	ID secret.Value
	// Protocol is the negotiated version.
	Protocol string
	// Handshake is the server's answer to initialize or server/discover, reduced to
	// the fields in use.
	Handshake json.RawMessage
	// Server is the server, for ending the session.
	Server remote.Server
	// CreatedAt is set by the store.
	CreatedAt time.Time
}

// Expired is a session that has expired.
type Expired struct {
	Tenant  tool.TenantID
	Session Session
}
