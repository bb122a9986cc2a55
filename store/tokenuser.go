package store

import (
	"context"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// TokenUser is a person who signed in with a token.
type TokenUser struct {
	Tenant      tool.TenantID
	Subject     string   // user:<issuer>/<sub>.
	Roles       []string // Those that the last token was mapped to.
	FirstSeenAt time.Time
	LastSeenAt  time.Time // To the minute.
}

// UserSubject is the prefix of the subject of callers with a token of an issuer.
const UserSubject = "user:"

// UseToken returns the principal of a token that was verified, of u's tenant, subject and roles, and
// records that it was used. Roles that there are not permit nothing. It fails with tool.Denied where
// the tenant does not exist or is suspended.
func (s *Store) UseToken(ctx context.Context, u TokenUser, d Draw) (tool.Principal, Allowance, error) {
	const op = "store.UseToken"
	refused := &tool.Error{Kind: tool.Denied, Op: op, Msg: "the token is not valid"}
	if !tool.ValidID(string(u.Tenant)) || !strings.HasPrefix(u.Subject, UserSubject) || u.Subject != text(u.Subject) {
		return tool.Principal{}, Allowance{}, refused
	}
	standard := d.Standard.Or(Limits{})
	row, err := ask(ctx, s.do, op, u.Tenant, (*db.Queries).UseToken, db.UseTokenParams{
		TenantID: string(u.Tenant), Subject: u.Subject, Roles: list(u.Roles), Take: d.Take, Unused: d.Unused, Bytes: d.Bytes,
		Rate: number(standard.RequestsPerSecond), Burst: number(standard.Burst), BytesPerMinute: standard.BytesPerMinute,
	})
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound:
		return tool.Principal{}, Allowance{}, refused
	case err != nil:
		return tool.Principal{}, Allowance{}, err
	case TenantStatus(row.TenantStatus) != TenantActive:
		return tool.Principal{}, Allowance{}, refused
	}
	p := tool.Principal{
		Tenant: u.Tenant, Subject: u.Subject, Permissions: permitted([]string{}, u.Roles, row.RolePermissions),
	}
	return p, allowance(standard, row.Taken), nil
}

// ListTokenUsers returns people who used tokens, the last one first. Those who were not seen for 90
// days may be missing.
func (s *Store) ListTokenUsers(ctx context.Context, tenant tool.TenantID, limit int) ([]TokenUser, error) {
	rows, err := ask(ctx, s.do, "store.ListTokenUsers", tenant, (*db.Queries).ListTokenUsers, db.ListTokenUsersParams{
		TenantID: string(tenant), Limit: pageSize(limit),
	})
	return convert(rows, func(row db.TokenUser) TokenUser {
		return TokenUser{
			Tenant: tool.TenantID(row.TenantID), Subject: row.Subject, Roles: row.Roles, FirstSeenAt: row.FirstSeenAt,
			LastSeenAt: row.LastSeenAt,
		}
	}), err
}
