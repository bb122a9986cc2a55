package httpcall

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Limits of a token endpoint's answer.
const (
	maxTokenAnswer = 64 << 10
	maxTokenBytes  = 16 << 10
)

// grant is the client credentials grant of RFC 6749, section 4.4, for one call.
type grant struct {
	gate       *egress.Gate
	access     egress.Access // The call's.
	auth       *Auth
	credential secret.Value
}

// answeredToken is a token and how long it lasts.
type answeredToken struct {
	text string
	age  time.Duration
}

// ask requests a token from the token endpoint. Its failures do not have Sent set,
// since no part of the call was sent.
func (g *grant) ask(ctx context.Context) (answeredToken, error) {
	id, password, err := pair(g.credential, "client_id", "client_secret")
	if err != nil {
		return answeredToken{}, err
	}
	hosts := g.credential.Hosts()
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(g.auth.Scopes) > 0 {
		form.Set("scope", strings.Join(g.auth.Scopes, " "))
	}
	if g.auth.Audience != "" {
		form.Set("audience", g.auth.Audience)
	}
	// Both parts are escaped before they are joined: section 2.3.1.
	client := &egress.Credential{
		Scheme: egress.Basic, Value: secret.NewValue(url.QueryEscape(id)+":"+url.QueryEscape(password), hosts...),
	}
	secret.Note(ctx, client.Value, secret.NewValue(password), secret.NewValue(url.QueryEscape(password)))
	access := g.access.Handshake(client)
	if g.auth.ClientAuth == clientBody {
		// The gate does not see credentials in a body: check access here. Redirects
		// of requests with a body are followed to the same origin only.
		if err := g.gate.Check(access, http.MethodPost, g.auth.TokenURL); err != nil {
			return answeredToken{}, tokenFailure(err)
		}
		access.Credential = nil
		form.Set("client_id", id)
		form.Set("client_secret", password)
	}
	resp, err := g.gate.Do(ctx, access, &egress.Request{
		Method: http.MethodPost, URL: g.auth.TokenURL, Body: []byte(form.Encode()), MaxBytes: maxTokenAnswer,
		Repeatable: true,
		Header:     http.Header{"Content-Type": {formType}, "Accept": {"application/json"}},
	})
	if err != nil {
		return answeredToken{}, tokenFailure(err)
	}
	return readToken(resp)
}

// tokenFailure returns the error of a token request without an answer.
func tokenFailure(err error) *tool.Error {
	failed := *tool.AsError(err)
	failed.Msg = "asking for a token: " + failed.Msg
	failed.Sent, failed.Answered = false, false
	return &failed
}

// readToken parses a token endpoint's response. For a refusal it reports only the
// error codes of RFC 6749, and no other text.
func readToken(resp *egress.Response) (answeredToken, error) {
	failed := &tool.Error{Op: "httpcall.Execute"}
	switch {
	case resp.Status == http.StatusRequestTimeout, resp.Status == http.StatusTooEarly,
		resp.Status == http.StatusTooManyRequests:
		failed.Kind, failed.RetryAfter = tool.RateLimited, egress.RetryAfter(resp.Header, time.Now())
	case resp.Status >= 500:
		failed.Kind, failed.RetryAfter = tool.Unavailable, egress.RetryAfter(resp.Header, time.Now())
	case resp.Status != http.StatusOK:
		failed.Kind = tool.Denied
	default:
		a, ok := parseToken(resp)
		if ok {
			return a, nil
		}
		return a, &tool.Error{
			Kind: tool.Unavailable, Op: "httpcall.Execute",
			Msg: "the token endpoint did not return a bearer token",
		}
	}
	failed.Msg = "the token endpoint refused a token with " + statusText(resp.Status) + errorCode(resp.Body)
	return answeredToken{}, failed
}

// errorCodes of RFC 6749, section 5.2, and RFC 8707.
var errorCodes = []string{
	"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
	"invalid_target",
}

func errorCode(body []byte) string {
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &e) != nil || !slices.Contains(errorCodes, e.Error) {
		return ""
	}
	return ", " + e.Error
}

// parseToken parses a token response of RFC 6749, section 5.1.
func parseToken(resp *egress.Response) (answeredToken, bool) {
	object, err := readObject(resp.Body)
	if err != nil || resp.Truncated {
		return answeredToken{}, false
	}
	var text, kind string
	if json.Unmarshal(object["access_token"], &text) != nil || !validTokenText(text) {
		return answeredToken{}, false
	}
	if raw, ok := object["token_type"]; ok && (json.Unmarshal(raw, &kind) != nil || !strings.EqualFold(kind, "bearer")) {
		return answeredToken{}, false
	}
	age, ok := lifetime(object["expires_in"])
	return answeredToken{text, age}, ok
}

func validTokenText(s string) bool {
	return s != "" && len(s) <= maxTokenBytes && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// lifetime parses seconds, which some servers write as a string. An expired token
// is used for one call.
func lifetime(raw json.RawMessage) (time.Duration, bool) {
	if len(raw) == 0 || isNull(raw) {
		return tokenAge, true
	}
	text, ok := scalar(raw)
	seconds, err := strconv.ParseFloat(text, 64)
	if !ok || err != nil || math.IsNaN(seconds) {
		return 0, false
	}
	return time.Duration(min(max(seconds, 0), maxTokenAge.Seconds()) * float64(time.Second)), true
}

// cutCredential splits "id:secret".
func cutCredential(text string) (string, string, bool) {
	id, password, ok := strings.Cut(text, ":")
	return id, password, ok && id != "" && password != "" && !strings.HasPrefix(strings.TrimSpace(text), "{")
}
