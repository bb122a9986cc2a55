// Package session holds what is kept of the sessions with MCP servers.
package session

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Key says whose a session is: that of one run of one tenant with one
// server. No other ever uses it.
type Key struct {
	Tenant tool.TenantID
	RunID  string
	Server string // See [remote.Server.Key].
}

// Session is what was agreed with a server, so that any worker can go on
// where another stopped.
type Session struct {
	// ID is the server's name for the session; empty for servers without. Any
	// holder of it can act as this client, so it is a secret.
	ID secret.Value
	// Protocol is the negotiated version.
	Protocol string
	// Handshake is the server's answer to initialize or server/discover, as
	// far as anybody needs it.
	Handshake json.RawMessage
	// Server is where the session is, for ending it.
	Server remote.Server
	// CreatedAt is set by the store.
	CreatedAt time.Time
}

// Expired is a session whose time is over.
type Expired struct {
	Tenant  tool.TenantID
	Session Session
}
