package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// NewCredential asks for a credential to be kept.
type NewCredential struct {
	Ref   string   `json:"ref" minLength:"1" maxLength:"128" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]*$" doc:"What tools name it by, as credentials_ref" example:"orders-api"`
	Value string   `json:"value" minLength:"1" maxLength:"65536" doc:"The secret itself, or a JSON object of its parts; taken once and never shown" example:"s3cr3t-of-the-upstream"`
	Hosts []string `json:"hosts" nullable:"false" maxItems:"50" doc:"Where it may be sent: hosts, host:port, or *.example.com; an empty list lets it go nowhere" example:"[\"api.example.com\"]"`
	CredentialUse
	ExpiresAt *time.Time `json:"expires_at,omitempty" doc:"From when on it is refused; never when absent" example:"2099-12-31T23:59:59Z"`
}

// CredentialUse says what a credential is for, where no tool names it by its ref.
type CredentialUse struct {
	Category string `json:"category,omitempty" maxLength:"64" doc:"With provider_key, what the credential is for: it is found by the three, which no other has" example:"custom"`
	Provider string `json:"provider_key,omitempty" maxLength:"64" example:"serper"`
	Variant  string `json:"provider_variant,omitempty" maxLength:"64" doc:"Tells credentials of one provider apart" example:"eu"`
}

// CredentialChange changes the value of a credential, or its hosts, use or
// expiry. Absent fields are left unchanged.
type CredentialChange struct {
	Value     *string        `json:"value,omitempty" minLength:"1" maxLength:"65536" doc:"The new secret; [redacted], as credentials are shown, keeps the old one" example:"n3w-s3cr3t"`
	Hosts     []string       `json:"hosts,omitzero" maxItems:"50" doc:"Where it may be sent; hosts that it could not go to before need value" example:"[\"api.example.com\"]"`
	Use       *CredentialUse `json:"use,omitempty" doc:"What it is for; an empty object takes that away"`
	ExpiresAt *time.Time     `json:"expires_at,omitempty" doc:"From when on it is refused" example:"2099-12-31T23:59:59Z"`
	NoExpiry  bool           `json:"no_expiry,omitempty" doc:"Lets it last for good"`
}

// Credential is a credential, without its value.
type Credential struct {
	ID    string   `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000d9"`
	Ref   string   `json:"ref" example:"orders-api"`
	Value string   `json:"value" doc:"Always [redacted]" example:"[redacted]"`
	Hosts []string `json:"hosts" doc:"Where it may be sent" example:"[\"api.example.com\"]"`
	CredentialUse
	Version    int        `json:"version" doc:"Counts the values that it had" example:"2"`
	KeyVersion int        `json:"key_version" doc:"Of the tenant's data key that it is encrypted by" example:"1"`
	Revision   int64      `json:"revision" example:"3"`
	CreatedAt  time.Time  `json:"created_at"`
	UpdatedAt  time.Time  `json:"updated_at"`
	RotatedAt  *time.Time `json:"rotated_at,omitempty" doc:"When its value was last replaced"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty" doc:"To the minute"`
	ExpiresAt  *time.Time `json:"expires_at,omitempty"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty" doc:"In the answer to its deletion alone"`
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

// Selector returns u as the vault takes it.
func (u CredentialUse) Selector() secret.Selector {
	return secret.Selector{Category: u.Category, Provider: u.Provider, Variant: u.Variant}
}
