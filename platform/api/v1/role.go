package v1

import "time"

// NewRole makes a role.
type NewRole struct {
	Name        string   `json:"name" minLength:"1" maxLength:"63" pattern:"^[a-z][a-z0-9_-]*$" doc:"A small letter, then small letters, digits, - and _; not the name of a built-in role" example:"support"`
	Description string   `json:"description,omitempty" maxLength:"500" example:"Answers customers"`
	Permissions []string `json:"permissions" nullable:"false" minItems:"1" maxItems:"200" doc:"What keys with the role may do; nothing that its maker may not" example:"[\"runs.read\",\"orders.read\"]"`
}

// RoleChange changes a role. Absent members are left unchanged.
type RoleChange struct {
	Description *string  `json:"description,omitempty" maxLength:"500"`
	Permissions []string `json:"permissions,omitempty" minItems:"1" maxItems:"200" doc:"All of them; one that is new must be a permission of who changes the role" example:"[\"runs.read\",\"orders.read\"]"`
}

// Role is a named set of permissions.
type Role struct {
	ID          string     `json:"id,omitempty" doc:"Absent for a built-in role" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1"`
	Name        string     `json:"name" example:"support"`
	Builtin     bool       `json:"builtin" doc:"Whether it is the same in every tenant and cannot be changed"`
	Description string     `json:"description,omitempty" example:"Answers customers"`
	Permissions []string   `json:"permissions" example:"[\"runs.read\",\"orders.read\"]"`
	Revision    int64      `json:"revision,omitempty" example:"1"`
	CreatedBy   string     `json:"created_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	ChangedBy   string     `json:"changed_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	CreatedAt   *time.Time `json:"created_at,omitempty"`
	ChangedAt   *time.Time `json:"changed_at,omitempty"`
}
