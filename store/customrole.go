package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// Role is a role of a tenant, beside the built-in ones.
type Role struct {
	access.Role
	ID        string
	Tenant    tool.TenantID
	Revision  int64
	CreatedBy string // Subject.
	ChangedBy string // Subject.
	CreatedAt time.Time
	ChangedAt time.Time
}

// ErrRoleChanged is the cause of a tool.Conflict: the role has another revision by now.
var ErrRoleChanged = errors.New("the role was changed meanwhile")

const roleUnknown = "role not found"

func checkRole(op string, r access.Role) error {
	invalid := func(path, msg string) error {
		return &tool.Error{Kind: tool.Invalid, Op: op, Path: path, Msg: msg}
	}
	if _, builtin := access.Find(r.Name); builtin {
		return invalid("/name", fmt.Sprintf("%q is a built-in role: choose another name", r.Name))
	}
	switch {
	case !access.ValidName(r.Name):
		return invalid("/name", "a role's name is a small letter and up to 62 small letters, digits, - and _")
	case len(r.Permissions) == 0 || len(r.Permissions) > access.MaxRolePermissions:
		return invalid("/permissions", fmt.Sprintf("a role has 1 to %d permissions", access.MaxRolePermissions))
	}
	for i, p := range r.Permissions {
		if p == "" || p != text(p) {
			return invalid(fmt.Sprintf("/permissions/%d", i), "a permission is a text, such as tools.read")
		}
	}
	return nil
}

// CreateRole stores a new role. It fails with tool.Conflict where the tenant has one of the name
// or too many.
func (s *Store) CreateRole(ctx context.Context, r Role) (Role, error) {
	const op = "store.CreateRole"
	if err := checkRole(op, r.Role); err != nil {
		return Role{}, err
	}
	id, err := uuid7.New()
	if err != nil {
		return Role{}, err
	}
	var row db.Role
	err = s.inTx(ctx, op, r.Tenant, func(q *db.Queries) error {
		if err := q.LockNumber(ctx, db.LockNumberParams{Of: "roles", TenantID: string(r.Tenant)}); err != nil {
			return err
		}
		n, err := q.CountRoles(ctx, string(r.Tenant))
		if err != nil {
			return err
		}
		if n >= access.MaxRoles {
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"the tenant has %d roles, which is the most: delete one first", n)}
		}
		row, err = q.CreateRole(ctx, db.CreateRoleParams{
			TenantID: string(r.Tenant), ID: id, Name: r.Name, Description: text(r.Description), Permissions: r.Permissions,
			CreatedBy: text(r.CreatedBy),
		})
		return explain(failure(op, err), tool.Conflict, fmt.Sprintf("the tenant has a role named %q already", r.Name))
	})
	return roleOf(row), explain(err, tool.NotFound, "tenant not found")
}

// FindRole returns a role of the tenant by its name. It fails with tool.NotFound, for built-in
// roles too.
func (s *Store) FindRole(ctx context.Context, tenant tool.TenantID, name string) (Role, error) {
	row, err := ask(ctx, s.do, "store.FindRole", tenant, (*db.Queries).FindRole, db.FindRoleParams{
		TenantID: string(tenant), Name: text(name),
	})
	return roleOf(row), explain(err, tool.NotFound, roleUnknown)
}

// ListRoles returns the tenant's roles by name, without the built-in ones.
func (s *Store) ListRoles(ctx context.Context, tenant tool.TenantID) ([]Role, error) {
	rows, err := ask(ctx, s.do, "store.ListRoles", tenant, (*db.Queries).ListRoles, string(tenant))
	return convert(rows, roleOf), err
}

// ChangeRole changes the description and the permissions of the role with r's id and revision, at
// once for all that have it. It fails with tool.Conflict and [ErrRoleChanged] where that has
// another revision.
func (s *Store) ChangeRole(ctx context.Context, r Role) (Role, error) {
	const op = "store.ChangeRole"
	if err := checkRole(op, r.Role); err != nil {
		return Role{}, err
	}
	if !tool.ValidID(r.ID) {
		return Role{}, notFound(op, roleUnknown)
	}
	row, err := ask(ctx, s.do, op, r.Tenant, (*db.Queries).ChangeRole, db.ChangeRoleParams{
		TenantID: string(r.Tenant), ID: r.ID, Revision: r.Revision, Description: text(r.Description),
		Permissions: r.Permissions, ChangedBy: text(r.ChangedBy),
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return Role{}, &tool.Error{
			Kind: tool.Conflict, Op: op, Msg: "the role was changed or deleted meanwhile: read it again, then decide",
			Err: ErrRoleChanged,
		}
	}
	return roleOf(row), err
}

// DeleteRole deletes a role that no key in use has; else it fails with tool.Conflict.
func (s *Store) DeleteRole(ctx context.Context, tenant tool.TenantID, name string) (Role, error) {
	const op = "store.DeleteRole"
	var row db.Role
	err := s.inTx(ctx, op, tenant, func(q *db.Queries) (err error) {
		// No key gets the role meanwhile.
		if err := q.LockKeys(ctx, string(tenant)); err != nil {
			return err
		}
		if row, err = q.DeleteRole(ctx, db.DeleteRoleParams{TenantID: string(tenant), Name: text(name)}); err != nil {
			return err
		}
		having, err := q.KeysOfRole(ctx, db.KeysOfRoleParams{TenantID: string(tenant), Role: row.Name})
		if err != nil || len(having) == 0 {
			return err
		}
		var named []string
		for _, k := range having {
			named = append(named, fmt.Sprintf("%q (%s)", k.Name, k.ID))
		}
		return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
			"keys have the role %q: revoke them first, such as %s", row.Name, strings.Join(named, ", "))}
	})
	return roleOf(row), explain(err, tool.NotFound, roleUnknown)
}

// requireRoles fails with tool.Invalid where one of the names is no role, and holds the tenant's
// roles among them until the transaction ends.
func requireRoles(ctx context.Context, q *db.Queries, op string, tenant tool.TenantID, names []string) error {
	own := []string{}
	for _, name := range names {
		if _, builtin := access.Find(name); !builtin {
			own = append(own, text(name))
		}
	}
	if len(own) == 0 {
		return nil
	}
	rows, err := q.FindRoles(ctx, db.FindRolesParams{TenantID: string(tenant), Names: own})
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, row := range rows {
		there[row.Name] = true
	}
	for i, name := range names {
		if _, builtin := access.Find(name); !builtin && !there[name] {
			return &tool.Error{Kind: tool.Invalid, Op: op, Path: fmt.Sprintf("/roles/%d", i), Msg: fmt.Sprintf(
				"there is no role %q: toolcrib role list names them", name)}
		}
	}
	return nil
}

func roleOf(row db.Role) Role {
	return Role{
		Role: access.Role{Name: row.Name, Description: row.Description, Permissions: row.Permissions},
		ID:   row.ID, Tenant: tool.TenantID(row.TenantID), Revision: row.Revision, CreatedBy: row.CreatedBy,
		ChangedBy: row.ChangedBy, CreatedAt: row.CreatedAt, ChangedAt: row.ChangedAt,
	}
}
