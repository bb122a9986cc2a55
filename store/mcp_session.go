package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/internal/remote/session"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// mcpSessionIdle is the idle timeout of a session.
const mcpSessionIdle = time.Hour

// LoadMCPSession returns the session of a run with an MCP server; nil if there is
// none, or it was idle for an hour.
func (s *Store) LoadMCPSession(ctx context.Context, key session.Key) (*session.Session, error) {
	if !tool.ValidID(key.RunID) {
		return nil, nil // No session is none.
	}
	var row db.LoadMCPSessionRow
	found := true
	err := s.do(ctx, "store.LoadMCPSession", key.Tenant, func(q *db.Queries) (err error) {
		row, err = q.LoadMCPSession(ctx, db.LoadMCPSessionParams{
			TenantID: string(key.Tenant), RunID: key.RunID, ServerKey: key.Server, KeepS: mcpSessionIdle.Seconds(),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			found = false
			return nil
		}
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	return mcpSession(row.SessionID, row.Protocol, row.Handshake, row.Server, row.CreatedAt)
}

// SaveMCPSession stores a run's session with an MCP server unless it has one already,
// and returns the stored one. It fails with tool.NotFound where the run does not
// exist.
func (s *Store) SaveMCPSession(ctx context.Context, key session.Key, begun *session.Session) (*session.Session, error) {
	const op = "store.SaveMCPSession"
	if !tool.ValidID(key.RunID) {
		return nil, notFound(op, "run not found")
	}
	handshake, err := payload(begun.Handshake)
	if err != nil {
		return nil, err
	}
	server, err := encodePayload(begun.Server)
	if err != nil {
		return nil, err
	}
	var row db.SaveMCPSessionRow
	err = s.do(ctx, op, key.Tenant, func(q *db.Queries) (err error) {
		row, err = q.SaveMCPSession(ctx, db.SaveMCPSessionParams{
			TenantID: string(key.Tenant), RunID: key.RunID, ServerKey: key.Server, SessionID: begun.ID.Reveal(),
			Protocol: text(begun.Protocol), Handshake: handshake, Server: server, KeepS: mcpSessionIdle.Seconds(),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return errRaced
		}
		return err
	})
	if err != nil {
		return nil, explain(err, tool.NotFound, "run not found")
	}
	return mcpSession(row.SessionID, row.Protocol, row.Handshake, row.Server, row.CreatedAt)
}

// DropMCPSession removes a run's session with an MCP server, if it is still the given
// one.
func (s *Store) DropMCPSession(ctx context.Context, key session.Key, lost *session.Session) error {
	if !tool.ValidID(key.RunID) {
		return nil
	}
	return s.do(ctx, "store.DropMCPSession", key.Tenant, func(q *db.Queries) error {
		return q.DropMCPSession(ctx, db.DropMCPSessionParams{
			TenantID: string(key.Tenant), RunID: key.RunID, ServerKey: key.Server,
			SessionID: lost.ID.Reveal(), Protocol: lost.Protocol,
		})
	})
}

// TakeExpiredMCPSessions removes at most this many expired sessions with MCP servers,
// of all tenants, and returns them. The caller ends them at their servers.
func (s *Store) TakeExpiredMCPSessions(ctx context.Context, most int) ([]session.Expired, error) {
	var rows []db.TakeExpiredMCPSessionsRow
	err := s.doGlobal(ctx, "store.TakeExpiredMCPSessions", func(q *db.Queries) (err error) {
		rows, err = q.TakeExpiredMCPSessions(ctx, number(most))
		return err
	})
	s.sweeps.note(SweepMCPSessions, len(rows), err)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row db.TakeExpiredMCPSessionsRow) (session.Expired, error) {
		kept, err := mcpSession(row.SessionID, row.Protocol, nil, row.Server, time.Time{})
		if err != nil {
			return session.Expired{}, err
		}
		return session.Expired{Tenant: tool.TenantID(row.TenantID), Session: *kept}, nil
	})
}

func mcpSession(id, protocol string, handshake, server json.RawMessage, at time.Time) (*session.Session, error) {
	kept := &session.Session{ID: secret.NewValue(id), Protocol: protocol, Handshake: handshake, CreatedAt: at}
	return kept, decode(server, &kept.Server)
}
