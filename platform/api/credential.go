package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/internal/vault"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

type createCredentialOutput struct {
	Location string `header:"Location"`
	Etag     string `header:"Etag"`
	Body     v1.Credential
}

type listCredentialsInput struct {
	Paging
}

// CredentialPath names the credential of a path. It is exported as [Paging] is.
type CredentialPath struct {
	Credential string `path:"credential" maxLength:"128" doc:"Ref or id" example:"orders-api"`
}

type credentialInput struct {
	CredentialPath
}

type changeCredentialInput struct {
	CredentialPath
	Changing
	Body v1.CredentialChange
}

type deleteCredentialInput struct {
	CredentialPath
	Changing
}

type credentialOutput struct {
	Etag string `header:"Etag" doc:"Names this state of the credential, for If-Match"`
	Body v1.Credential
}

func (s *server) registerCredentials() {
	handle(s, route{
		id: "createCredential", method: http.MethodPost, path: "/v1/credentials", tag: "credentials",
		permission: CredentialsWrite, status: http.StatusCreated,
		summary: "Store a credential, encrypted",
		detail: "Tools name it by `credentials_ref`. Its value is write-only: no response, event, log or error ever " +
			"shows it. It is sent to its hosts only.",
		confidential: true,
	}, s.createCredential)
	handle(s, route{
		id: "listCredentials", method: http.MethodGet, path: "/v1/credentials", tag: "credentials",
		permission: CredentialsRead,
		summary:    "List credentials, in the order of refs", detail: "Never their values.",
	}, s.listCredentials)
	handle(s, route{
		id: "getCredential", method: http.MethodGet, path: "/v1/credentials/{credential}", tag: "credentials",
		permission: CredentialsRead,
		summary:    "Get a credential", detail: "Never its value.",
	}, s.getCredential)
	handle(s, route{
		id: "changeCredential", method: http.MethodPut, path: "/v1/credentials/{credential}", tag: "credentials",
		permission: CredentialsWrite,
		summary:    "Rotate a credential, or change its hosts",
		detail: "Running calls keep the old value, new calls send the new one. Adding hosts requires the value " +
			"again, so that only a caller who knows it can have it sent elsewhere.",
	}, s.changeCredential)
	handle(s, route{
		id: "deleteCredential", method: http.MethodDelete, path: "/v1/credentials/{credential}", tag: "credentials",
		permission: CredentialsWrite,
		summary:    "Revoke a credential, at once and permanently",
		detail:     "Its value is destroyed; the next call that needs it is refused. Its ref can be used again.",
	}, s.deleteCredential)
}

func (s *server) createCredential(
	ctx context.Context, p tool.Principal, in *body[v1.NewCredential],
) (*createCredentialOutput, error) {
	c, err := s.cfg.Vault.Create(ctx, vault.Credential{
		Tenant: p.Tenant, Ref: in.Body.Ref, Hosts: in.Body.Hosts, Selector: in.Body.Selector(), ExpiresAt: in.Body.ExpiresAt,
	}, in.Body.Value)
	if err != nil {
		return nil, credentialFailure(err)
	}
	return &createCredentialOutput{
		Location: "/v1/credentials/" + c.Ref, Etag: etag(c.ID, c.Revision), Body: v1.FromCredential(c),
	}, nil
}

func (s *server) listCredentials(
	ctx context.Context, p tool.Principal, in *listCredentialsInput,
) (*listed[v1.Credential], error) {
	after, err := openCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Vault.List(ctx, p.Tenant, after, in.fetch())
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, v1.FromCredential, func(c vault.Credential) string { return c.Ref })), nil
}

func (s *server) getCredential(ctx context.Context, p tool.Principal, in *credentialInput) (*credentialOutput, error) {
	c, err := s.cfg.Vault.Get(ctx, p.Tenant, in.Credential)
	if err != nil {
		return nil, err
	}
	return showCredential(c), nil
}

func (s *server) changeCredential(
	ctx context.Context, p tool.Principal, in *changeCredentialInput,
) (*credentialOutput, error) {
	revision, err := s.credentialRevision(ctx, p, in.Credential, in.Changing)
	if err != nil {
		return nil, err
	}
	change := vault.Change{Value: in.Body.Value, ExpiresAt: in.Body.ExpiresAt, Revision: revision}
	if in.Body.Hosts != nil {
		change.Hosts = &in.Body.Hosts
	}
	if in.Body.Use != nil {
		use := in.Body.Use.Selector()
		change.Selector = &use
	}
	if in.Body.NoExpiry {
		if in.Body.ExpiresAt != nil {
			return nil, &tool.Error{
				Kind: tool.Invalid, Op: "api.changeCredential", Path: "/no_expiry", Msg: "give one of expires_at and no_expiry",
			}
		}
		change.ExpiresAt = &time.Time{}
	}
	c, err := s.cfg.Vault.Change(ctx, p.Tenant, in.Credential, change)
	if err != nil {
		return nil, credentialFailure(in.changed(err))
	}
	return showCredential(c), nil
}

func (s *server) deleteCredential(
	ctx context.Context, p tool.Principal, in *deleteCredentialInput,
) (*credentialOutput, error) {
	revision, err := s.credentialRevision(ctx, p, in.Credential, in.Changing)
	if err != nil {
		return nil, err
	}
	c, err := s.cfg.Vault.Revoke(ctx, p.Tenant, in.Credential, revision)
	if err != nil {
		return nil, in.changed(err)
	}
	return showCredential(c), nil
}

// credentialRevision returns the revision that the condition of a change
// requires, and zero without a condition.
func (s *server) credentialRevision(ctx context.Context, p tool.Principal, name string, in Changing) (int64, error) {
	if in.IfMatch == "" {
		return 0, nil
	}
	c, err := s.cfg.Vault.Get(ctx, p.Tenant, name)
	if err != nil {
		return 0, err
	}
	if !names(in.IfMatch, etag(c.ID, c.Revision), false) {
		return 0, preconditionFailed()
	}
	return c.Revision, nil
}

// changed returns the error of a failed change of a credential or webhook.
func (c Changing) changed(err error) error {
	if c.IfMatch != "" && (errors.Is(err, vault.ErrChanged) || errors.Is(err, webhook.ErrChanged) ||
		errors.Is(err, space.ErrChanged) || errors.Is(err, schedule.ErrChanged)) {
		return preconditionFailed()
	}
	return err
}

// credentialFailure returns an error that says what to configure if credentials
// can't be encrypted.
func credentialFailure(err error) error {
	if errors.Is(err, vault.ErrNoKeys) {
		return refusal(v1.EncryptionMissing, tool.AsError(err).Msg)
	}
	return err
}

func showCredential(c vault.Credential) *credentialOutput {
	return &credentialOutput{Etag: etag(c.ID, c.Revision), Body: v1.FromCredential(c)}
}
