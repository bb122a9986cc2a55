package httpcall

import (
	"context"
	"net/http"
	"strings"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// exchange sends the requests of one call, one or one for each page, all with the
// same egress access.
type exchange struct {
	executor *Executor
	program  *program
	call     *tool.Call
	access   egress.Access
	grant    *grant // The source of the access token; nil for none.
	renewed  bool   // Whether a second token was requested.
}

// begin opens the credentials of the call's requests and returns their exchange.
func (e *Executor) begin(ctx context.Context, p *program, call *tool.Call, req *egress.Request) (*exchange, error) {
	x := &exchange{executor: e, program: p, call: call, access: egress.Access{
		Tenant: call.Principal.Tenant, Class: call.Egress, Rules: call.EgressRules, PostReads: p.Reads,
	}}
	if p.Auth == nil {
		return x, nil
	}
	v, err := secret.Open(ctx, e.secrets, call.Principal.Tenant, p.Auth.CredentialsRef)
	if err != nil {
		return nil, err
	}
	if p.Auth.Type == authOAuth2 {
		return x, x.authorize(ctx, v, req)
	}
	x.access.Credential, err = p.Auth.credential(ctx, v)
	return x, err
}

// authorize gets a token for the call's requests, after checking that egress rules
// allow the requests and the credential.
func (x *exchange) authorize(ctx context.Context, v secret.Value, req *egress.Request) error {
	bound := x.access
	// A token may be sent wherever v may be sent.
	bound.Credential = &egress.Credential{Value: secret.NewValue("token", v.Hosts()...)}
	if err := x.executor.gate.Check(bound, req.Method, req.URL); err != nil {
		return err
	}
	x.grant = &grant{gate: x.executor.gate, access: x.access, auth: x.program.Auth, credential: v}
	token, err := x.executor.tokens.get(ctx, x.grant)
	if err != nil {
		return err
	}
	x.carry(ctx, token)
	return nil
}

// carry adds a token to the call's requests, for the host of the tool's URL alone.
func (x *exchange) carry(ctx context.Context, token string) {
	v := secret.NewValue(token, x.program.template.hostport())
	secret.Note(ctx, v)
	x.access.Credential = &egress.Credential{Value: v, Scheme: egress.Bearer}
}

// send sends a request. A rejected token is dropped and replaced, once per call,
// where the request may be repeated.
func (x *exchange) send(ctx context.Context, req *egress.Request) (*egress.Response, error) {
	for {
		resp, err := x.executor.gate.Do(ctx, x.access, req)
		if err != nil || resp.Status != http.StatusUnauthorized || x.grant == nil {
			return resp, err
		}
		x.executor.tokens.drop(x.grant, x.access.Credential.Value.Reveal())
		if x.renewed || !req.Repeatable {
			return resp, nil
		}
		x.renewed = true
		token, err := x.executor.tokens.get(ctx, x.grant)
		if err != nil {
			failed := *tool.AsError(err)
			failed.Sent, failed.Answered = true, true
			return nil, &failed
		}
		x.carry(ctx, token)
	}
}

// credential returns an opened secret in the form in which it is sent.
func (a *Auth) credential(ctx context.Context, v secret.Value) (*egress.Credential, error) {
	if a.Type == authBasic {
		if _, ok := v.Field("username"); ok {
			user, password, err := pair(v, "username", "password")
			if err != nil {
				return nil, err
			}
			v = secret.NewValue(user+":"+password, v.Hosts()...)
		}
		if _, password, ok := strings.Cut(v.Reveal(), ":"); ok {
			secret.Note(ctx, v, secret.NewValue(password))
		}
	}
	return &egress.Credential{Value: v, Scheme: schemes[a.Type], Header: a.Header, Name: a.Name}, nil
}

// pair returns a credential's two parts: members of an object, or separated by a
// colon.
func pair(v secret.Value, first, second string) (string, string, error) {
	if a, ok := v.Field(first); ok {
		b, ok := v.Field(second)
		if !ok {
			return "", "", denied("the credential has no " + second)
		}
		return a.Reveal(), b.Reveal(), nil
	}
	a, b, ok := cutCredential(v.Reveal())
	if !ok {
		return "", "", denied("the credential is neither \"" + first + ":" + second + "\" nor an object with these members")
	}
	return a, b, nil
}

func denied(msg string) *tool.Error {
	return &tool.Error{Kind: tool.Denied, Op: "httpcall.Execute", Msg: msg}
}
