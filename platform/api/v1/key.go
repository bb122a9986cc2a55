package v1

import "time"

// NewKey requests an API key.
type NewKey struct {
	Name        string     `json:"name" minLength:"1" maxLength:"200" doc:"What the key is for" example:"ci"`
	Permissions []string   `json:"permissions" nullable:"false" maxItems:"100" doc:"The permissions of the key; none that its creator lacks" example:"[\"tools.read\",\"runs.write\"]"`
	Scopes      []string   `json:"scopes,omitempty" maxItems:"100" doc:"Limits the key to those of its permissions that are listed here too; no limit when empty" example:"[\"tools.read\"]"`
	Toolset     string     `json:"toolset,omitempty" maxLength:"32" doc:"Slug of the toolset at whose address alone the key works, for good; a key of the API when absent" example:"support"`
	ExpiresAt   *time.Time `json:"expires_at,omitempty" doc:"When the key expires; never when absent" example:"2099-12-31T23:59:59Z"`
}

// Key is an API key, without its secret.
type Key struct {
	ID          string     `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000d2"`
	Name        string     `json:"name" example:"ci"`
	Permissions []string   `json:"permissions" example:"[\"tools.read\",\"runs.write\"]"`
	Scopes      []string   `json:"scopes,omitempty" example:"[\"tools.read\"]"`
	CreatedBy   string     `json:"created_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	CreatedAt   time.Time  `json:"created_at"`
	ExpiresAt   *time.Time `json:"expires_at,omitempty"`
	RevokedAt   *time.Time `json:"revoked_at,omitempty"`
	LastUsedAt  *time.Time `json:"last_used_at,omitempty" doc:"To the minute"`
	ToolsetID   string     `json:"toolset_id,omitempty" doc:"The toolset at whose address alone the key works" example:"01975c2e-7d1a-7c3e-9f00-0000000000e7"`
	Toolset     string     `json:"toolset,omitempty" doc:"Its slug; absent where it was deleted" example:"support"`
}

// CreatedKey is a new API key with its secret, which is never shown again.
type CreatedKey struct {
	Key
	Secret string `json:"secret" doc:"The Bearer token; shown only here" example:"tck_…"`
}
