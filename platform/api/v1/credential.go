package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// NewCredential requests that a credential be stored.
type NewCredential struct {
	Ref   string   `json:"ref" minLength:"1" maxLength:"128" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]*$" doc:"The name that tools use, as credentials_ref" example:"orders-api"`
	Value string   `json:"value" minLength:"1" maxLength:"65536" doc:"The secret itself, or a JSON object of its parts; never shown again" example:"s3cr3t-of-the-upstream"`
	Hosts []string `json:"hosts" nullable:"false" maxItems:"50" doc:"Where it may be sent: hosts, host:port, or *.example.com; with an empty list, nowhere" example:"[\"api.example.com\"]"`
	CredentialUse
	ExpiresAt *time.Time `json:"expires_at,omitempty" doc:"When it expires; never when absent" example:"2099-12-31T23:59:59Z"`
}

// CredentialUse is the purpose of a credential that no tool names by its ref.
type CredentialUse struct {
	Category string `json:"category,omitempty" maxLength:"64" doc:"With provider_key, the purpose of the credential. It is found by category, provider_key and variant, which are unique" example:"custom"`
	Provider string `json:"provider_key,omitempty" maxLength:"64" example:"serper"`
	Variant  string `json:"provider_variant,omitempty" maxLength:"64" doc:"Distinguishes credentials of one provider" example:"eu"`
}

// CredentialChange changes the value of a credential, or its hosts, use or
// expiry. Absent fields are left unchanged.
type CredentialChange struct {
	Value     *string        `json:"value,omitempty" minLength:"1" maxLength:"65536" doc:"The new secret; [redacted] keeps the old one" example:"n3w-s3cr3t"`
	Hosts     []string       `json:"hosts,omitzero" maxItems:"50" doc:"Where it may be sent; adding hosts requires value" example:"[\"api.example.com\"]"`
	Use       *CredentialUse `json:"use,omitempty" doc:"Its purpose; an empty object removes it"`
	ExpiresAt *time.Time     `json:"expires_at,omitempty" doc:"When it expires" example:"2099-12-31T23:59:59Z"`
	NoExpiry  bool           `json:"no_expiry,omitempty" doc:"Removes the expiry"`
}

// Credential is a credential, without its value.
type Credential struct {
	ID    string   `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000d9"`
	Ref   string   `json:"ref" example:"orders-api"`
	Value string   `json:"value" doc:"Always [redacted]" example:"[redacted]"`
	Hosts []string `json:"hosts" doc:"Where it may be sent" example:"[\"api.example.com\"]"`
	CredentialUse
	Version    int        `json:"version" doc:"Number of its current value, from 1" example:"2"`
	KeyVersion int        `json:"key_version" doc:"Version of the tenant's data key that encrypts it" example:"1"`
	Revision   int64      `json:"revision" example:"3"`
	CreatedAt  time.Time  `json:"created_at"`
	UpdatedAt  time.Time  `json:"updated_at"`
	RotatedAt  *time.Time `json:"rotated_at,omitempty" doc:"When its value was last replaced"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty" doc:"To the minute"`
	ExpiresAt  *time.Time `json:"expires_at,omitempty"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty" doc:"Only in the response to its deletion"`
}

// FromCredential returns c as the API shows it.
func FromCredential(c vault.Credential) Credential {
	return Credential{
		ID: c.ID, Ref: c.Ref, Value: secret.Redacted, Hosts: append([]string{}, c.Hosts...),
		CredentialUse: CredentialUse{
			Category: c.Selector.Category, Provider: c.Selector.Provider, Variant: c.Selector.Variant,
		},
		Version: c.Version, KeyVersion: c.KeyVersion, Revision: c.Revision, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		RotatedAt: c.RotatedAt, LastUsedAt: c.LastUsedAt, ExpiresAt: c.ExpiresAt, RevokedAt: c.RevokedAt,
	}
}

// Selector returns u as a selector of the vault.
func (u CredentialUse) Selector() secret.Selector {
	return secret.Selector{Category: u.Category, Provider: u.Provider, Variant: u.Variant}
}
