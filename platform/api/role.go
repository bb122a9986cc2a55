package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/toolcrib/toolcrib/access"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

type roleInput struct {
	Name string `path:"role" maxLength:"63"`
}

type readRoleInput struct {
	Name string `path:"role" maxLength:"63"`
	Reading
}

type changeRoleInput struct {
	Name string `path:"role" maxLength:"63"`
	Changing
	Body v1.RoleChange
}

type roleOutput struct {
	Status int
	Etag   string `header:"Etag" doc:"Names this state of the role, for If-Match and If-None-Match; none for a built-in role"`
	Body   v1.Role
}

func (s *server) registerRoles() {
	handle(s, route{
		id: "listRoles", method: http.MethodGet, path: "/v1/roles", tag: "keys", permission: RolesRead,
		summary: "List the built-in roles and the tenant's",
	}, s.listRoles)
	handle(s, route{
		id: "createRole", method: http.MethodPost, path: "/v1/roles", tag: "keys", permission: RolesWrite,
		status: http.StatusCreated, summary: "Make a role of the tenant",
		detail: "It permits nothing that its maker may not. Keys get roles when they are created.",
	}, s.createRole)
	handle(s, route{
		id: "getRole", method: http.MethodGet, path: "/v1/roles/{role}", tag: "keys", permission: RolesRead,
		summary: "Get a role",
	}, s.getRole)
	handle(s, route{
		id: "changeRole", method: http.MethodPut, path: "/v1/roles/{role}", tag: "keys", permission: RolesWrite,
		summary: "Change a role of the tenant",
		detail: "Keys that have it may do what it permits from their next request on. What is added to it must be a " +
			"permission of who changes it.",
	}, s.changeRole)
	handle(s, route{
		id: "deleteRole", method: http.MethodDelete, path: "/v1/roles/{role}", tag: "keys", permission: RolesWrite,
		summary: "Delete a role of the tenant", detail: "Refused while a key that is neither revoked nor expired has it.",
	}, s.deleteRole)
}

func (s *server) listRoles(ctx context.Context, p tool.Principal, _ *struct{}) (*listed[v1.Role], error) {
	own, err := s.cfg.Store.ListRoles(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	out := answer(v1.Page[v1.Role]{Items: []v1.Role{}})
	for _, r := range access.Builtin() {
		out.Body.Items = append(out.Body.Items, showBuiltinRole(r))
	}
	for _, r := range own {
		out.Body.Items = append(out.Body.Items, showRole(r))
	}
	return out, nil
}

func (s *server) getRole(ctx context.Context, p tool.Principal, in *readRoleInput) (*roleOutput, error) {
	if builtin, ok := access.Find(in.Name); ok {
		return &roleOutput{Status: http.StatusOK, Body: showBuiltinRole(builtin)}, nil
	}
	found, err := s.cfg.Store.FindRole(ctx, p.Tenant, in.Name)
	if err != nil {
		return nil, err
	}
	out := roleAnswer(http.StatusOK, found)
	if in.unchanged(out.Etag) {
		out.Status = http.StatusNotModified
	}
	return out, nil
}

func (s *server) createRole(ctx context.Context, p tool.Principal, in *body[v1.NewRole]) (*roleOutput, error) {
	if err := mayPermit(p, "api.createRole", in.Body.Permissions, nil); err != nil {
		return nil, err
	}
	made, err := s.cfg.Store.CreateRole(ctx, store.Role{
		Role: access.Role{
			Name: in.Body.Name, Description: in.Body.Description, Permissions: unique(in.Body.Permissions),
		},
		Tenant: p.Tenant, CreatedBy: p.Subject,
	})
	if err != nil {
		return nil, err
	}
	return roleAnswer(http.StatusCreated, made), nil
}

func (s *server) changeRole(ctx context.Context, p tool.Principal, in *changeRoleInput) (*roleOutput, error) {
	if _, builtin := access.Find(in.Name); builtin {
		return nil, builtinRole("api.changeRole", in.Name)
	}
	role, err := s.cfg.Store.FindRole(ctx, p.Tenant, in.Name)
	if err != nil {
		return nil, err
	}
	if in.IfMatch != "" && !names(in.IfMatch, etag(role.ID, role.Revision), false) {
		return nil, preconditionFailed()
	}
	if in.Body.Permissions != nil {
		if err := mayPermit(p, "api.changeRole", in.Body.Permissions, role.Permissions); err != nil {
			return nil, err
		}
		role.Permissions = unique(in.Body.Permissions)
	}
	if in.Body.Description != nil {
		role.Description = *in.Body.Description
	}
	role.ChangedBy = p.Subject
	changed, err := s.cfg.Store.ChangeRole(ctx, role)
	if errors.Is(err, store.ErrRoleChanged) && in.IfMatch != "" {
		return nil, preconditionFailed()
	}
	if err != nil {
		return nil, err
	}
	return roleAnswer(http.StatusOK, changed), nil
}

func (s *server) deleteRole(ctx context.Context, p tool.Principal, in *roleInput) (*body[v1.Role], error) {
	if _, builtin := access.Find(in.Name); builtin {
		return nil, builtinRole("api.deleteRole", in.Name)
	}
	gone, err := s.cfg.Store.DeleteRole(ctx, p.Tenant, in.Name)
	if err != nil {
		return nil, err
	}
	return answer(showRole(gone)), nil
}

func builtinRole(op, name string) error {
	return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
		"%q is a built-in role, which cannot be changed: make a role of your own", name)}
}

// mayPermit refuses a role that would permit what the principal may not, beyond what it permits
// already.
func mayPermit(p tool.Principal, op string, permissions, already []string) error {
	for i, permission := range permissions {
		if slices.Contains(already, permission) || permission != "" && p.May(permission) {
			continue
		}
		return &tool.Error{
			Kind: tool.Denied, Op: op, Path: fmt.Sprintf("/permissions/%d", i),
			Msg: fmt.Sprintf("a role cannot permit %q, which who makes or changes it may not do", permission),
		}
	}
	return nil
}

// unique returns names without those that are there twice, in order.
func unique(names []string) []string {
	out := []string{}
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func roleAnswer(status int, r store.Role) *roleOutput {
	return &roleOutput{Status: status, Etag: etag(r.ID, r.Revision), Body: showRole(r)}
}

func showBuiltinRole(r access.Role) v1.Role {
	return v1.Role{Name: r.Name, Builtin: true, Description: r.Description, Permissions: r.Permissions}
}

func showRole(r store.Role) v1.Role {
	return v1.Role{
		ID: r.ID, Name: r.Name, Description: r.Description, Permissions: r.Permissions, Revision: r.Revision,
		CreatedBy: r.CreatedBy, ChangedBy: r.ChangedBy, CreatedAt: &r.CreatedAt, ChangedAt: &r.ChangedAt,
	}
}
