package v1

import "time"

// NewKey requests an API key.
type NewKey struct {
	Name        string     `json:"name" minLength:"1" maxLength:"200" doc:"What the key is for" example:"ci"`
	Permissions []string   `json:"permissions,omitempty" maxItems:"100" doc:"The permissions of the key; none that its creator lacks" example:"[\"tools.read\",\"runs.write\"]"`
	Roles       []string   `json:"roles,omitempty" maxItems:"20" doc:"Names of roles, built-in ones or the tenant's: the key may do what they permit when it is used; now none that permits what its creator lacks" example:"[\"viewer\"]"`
	Owner       string     `json:"owner,omitempty" maxLength:"200" doc:"Who answers for it, if a service uses the key: a person or a team" example:"team-support@example.com"`
	Limits      *KeyLimits `json:"limits,omitempty" doc:"What the key may send; without it, what its creator may"`
	Scopes      []string   `json:"scopes,omitempty" maxItems:"100" doc:"Limits the key to those of its permissions that are listed here too; no limit when empty" example:"[\"tools.read\"]"`
	Toolset     string     `json:"toolset,omitempty" maxLength:"32" doc:"Slug of the toolset at whose address alone the key works, for good; a key of the API when absent" example:"support"`
	ExpiresAt   *time.Time `json:"expires_at,omitempty" doc:"When the key expires; never when absent" example:"2099-12-31T23:59:59Z"`
}

// KeyLimits bound what a key may send. An absent member is the limit of the servers, if they have one.
type KeyLimits struct {
	RequestsPerSecond int   `json:"requests_per_second,omitempty" minimum:"1" maximum:"1000000" example:"50"`
	Burst             int   `json:"burst,omitempty" minimum:"1" maximum:"1000000" doc:"Requests at once; those of a second when absent" example:"100"`
	BytesPerMinute    int64 `json:"bytes_per_minute,omitempty" minimum:"1" maximum:"1000000000000" doc:"Bodies of requests and of answers" example:"10000000"`
}

// Key is an API key, without its secret.
type Key struct {
	ID          string     `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000d2"`
	Name        string     `json:"name" example:"ci"`
	Permissions []string   `json:"permissions" example:"[\"tools.read\",\"runs.write\"]"`
	Scopes      []string   `json:"scopes,omitempty" example:"[\"tools.read\"]"`
	Roles       []string   `json:"roles,omitempty" example:"[\"viewer\"]"`
	Owner       string     `json:"owner,omitempty" example:"team-support@example.com"`
	Limits      *KeyLimits `json:"limits,omitempty" doc:"Those of the key itself; absent members are the limits of the servers"`
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

// Person used a token of an issuer.
type Person struct {
	Subject     string    `json:"subject" doc:"With the name of the issuer and the sub of the tokens" example:"user:corp/ada"`
	Roles       []string  `json:"roles" doc:"Those that the last token was mapped to" example:"[\"builder\"]"`
	FirstSeenAt time.Time `json:"first_seen_at"`
	LastSeenAt  time.Time `json:"last_seen_at" doc:"To the minute"`
}
