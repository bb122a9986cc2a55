package access

import (
	"regexp"
	"slices"
)

// Names of the built-in roles.
const (
	Admin    = "admin"
	Builder  = "builder"
	Approver = "approver"
	Operator = "operator"
	Viewer   = "viewer"
)

// Groups of roles that permissions are given to.
var (
	everyone  = []string{Builder, Approver, Operator, Viewer}
	makers    = []string{Builder, Operator, Viewer}
	workers   = []string{Builder, Operator}
	builders  = []string{Builder}
	operators = []string{Operator}
)

// Role is a named set of permissions. Keys have roles, and claims of tokens are mapped to them.
type Role struct {
	Name        string
	Description string
	Permissions []string
}

// Builtin lists the built-in roles. They cannot be changed, and their names are taken in every
// tenant.
func Builtin() []Role {
	roles := []Role{
		{Admin, "everything, whatever tools require too", []string{All}},
		{Builder, "make tools, agents, pipelines and spaces, and try them", nil},
		{Approver, "see what runs, and approve or reject calls", nil},
		{Operator, "keep a tenant going: runs, schedules, webhooks, prices and budgets, and the audit log", nil},
		{Viewer, "see everything but the audit log and payloads, and change nothing", nil},
	}
	for i := range roles {
		for _, p := range permissions {
			if slices.Contains(p.in, roles[i].Name) {
				roles[i].Permissions = append(roles[i].Permissions, p.name)
			}
		}
	}
	return roles
}

// Find returns the built-in role with a name, and whether there is one.
func Find(name string) (Role, bool) {
	all := Builtin()
	i := slices.IndexFunc(all, func(r Role) bool { return r.Name == name })
	if i < 0 {
		return Role{}, false
	}
	return all[i], true
}

// granted are the permissions of the built-in roles, by name.
var granted = func() map[string][]string {
	out := map[string][]string{}
	for _, r := range Builtin() {
		out[r.Name] = r.Permissions
	}
	return out
}()

// Expand returns permissions with those of the built-in roles among names added, without
// duplicates. Other names add nothing: they are roles of a tenant.
func Expand(permissions []string, roles ...string) []string {
	if len(roles) == 0 {
		return permissions
	}
	out := slices.Clone(permissions)
	for _, name := range roles {
		for _, p := range granted[name] {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// With lists the built-in roles that have one of the permissions.
func With(permissions []string) []string {
	names := []string{}
	for _, r := range Builtin() {
		if slices.ContainsFunc(permissions, func(p string) bool { return slices.Contains(r.Permissions, p) }) ||
			slices.Contains(r.Permissions, All) {
			names = append(names, r.Name)
		}
	}
	return names
}

// Limits of the roles of a tenant.
const (
	MaxRoles           = 200
	MaxRolePermissions = 200
)

var roleName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

// ValidName reports whether name can be that of a role.
func ValidName(name string) bool { return roleName.MatchString(name) }
