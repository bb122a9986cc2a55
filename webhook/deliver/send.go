package deliver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/internal/visible"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

// maxAnswer bounds what is kept of a receiver's answer, in bytes.
const maxAnswer = 1024

// access returns the access for requests to a webhook. The signature is sent as a credential is:
// over https, or to hosts that an operator allowed, and to the webhook's host only.
func access(tenant tool.TenantID, host, signature string) egress.Access {
	return egress.Access{
		Tenant: tenant, Class: tool.EgressWrite,
		Credential: &egress.Credential{
			Value: secret.NewValue(signature, host), Scheme: egress.Raw, Header: webhook.SignatureHeader,
		},
	}
}

// Checker returns a function that refuses URLs which a tenant's webhooks may not be sent to, as
// far as that is known without resolving names.
func Checker(gate *egress.Gate) func(tenant tool.TenantID, rawURL string) error {
	return func(tenant tool.TenantID, rawURL string) error {
		u, err := url.Parse(rawURL)
		if err != nil {
			return &tool.Error{Kind: tool.Invalid, Op: "deliver.Check", Msg: "the URL is malformed", Err: err}
		}
		err = gate.Check(access(tenant, u.Host, "v1,"), http.MethodPost, rawURL)
		if err != nil && u.Scheme == "http" && !strings.Contains(tool.AsError(err).Msg, "--allow-host") {
			return &tool.Error{Kind: tool.Denied, Op: "deliver.Check", Err: err, Msg: tool.AsError(err).Msg +
				"; use https, or have an operator allow the host (toolcrib serve --allow-host)"}
		}
		return err //nolint:wrapcheck // It says what is wrong.
	}
}

// send makes one request, and says what becomes of the delivery.
func (d *Deliverer) send(ctx context.Context, due webhook.Due) webhook.Attempt {
	code, answer, wait, err := d.post(ctx, due)
	out := webhook.Attempt{Status: webhook.Delivered, Code: code, Answer: excerpt(answer)}
	switch {
	case err != nil:
		out.Error = tool.AsError(err).Msg
	case code >= 200 && code <= 299:
		return out
	case code == http.StatusGone:
		out.Status, out.Error = webhook.Failed, "the receiver answered with 410 Gone"
		out.Disable = out.Error
		return out
	case code >= 300 && code <= 399:
		out.Error = fmt.Sprintf(
			"the receiver answered with %d, a redirect, which is not followed: change the webhook's URL", code)
	default:
		out.Error = strings.TrimSpace(fmt.Sprintf("the receiver answered with %d %s", code, http.StatusText(code)))
	}
	delay, more := d.cfg.Retry(due.Attempts)
	if out.Status = webhook.Failed; more && due.Type != webhook.EventPing {
		out.Status, out.Delay = webhook.Pending, max(delay, wait)
	}
	return out
}

// post sends a delivery. It returns the status and the beginning of the body of the answer, and
// how long the receiver asks to wait.
func (d *Deliverer) post(
	ctx context.Context, due webhook.Due,
) (code int, answer []byte, wait time.Duration, err error) {
	body, err := payload(due)
	if err != nil {
		return 0, nil, 0, err
	}
	secrets, err := webhook.Secrets(ctx, d.cfg.Vault, due)
	if err != nil {
		return 0, nil, 0, fmt.Errorf("opening the webhook's secret: %w", err)
	}
	now := time.Now()
	signature, err := webhook.Sign(due.ID, now, body, secrets...)
	if err != nil {
		return 0, nil, 0, fmt.Errorf("signing a webhook delivery: %w", err)
	}
	u, err := url.Parse(due.Webhook.URL)
	if err != nil {
		return 0, nil, 0, &tool.Error{Kind: tool.Invalid, Op: "deliver", Msg: "the webhook's URL is malformed", Err: err}
	}
	header := http.Header{
		"Content-Type":          {"application/json"},
		webhook.IDHeader:        {due.ID},
		webhook.TimestampHeader: {strconv.FormatInt(now.Unix(), 10)},
	}
	got, err := d.cfg.Gate.Do(ctx, access(due.Tenant, u.Host, signature), &egress.Request{
		Method: http.MethodPost, URL: due.Webhook.URL, Header: header, Body: body, MaxBytes: maxAnswer, NoRedirects: true,
	})
	if err != nil {
		return 0, nil, 0, err //nolint:wrapcheck // Its message is for the tenant.
	}
	return got.Status, got.Body, egress.RetryAfter(got.Header, now), nil
}

// payload returns the body of a delivery's requests.
func payload(due webhook.Due) ([]byte, error) {
	if due.Sensitive && len(due.Data) > 0 {
		due.Data = redact.JSON(due.Data)
	}
	message, err := due.Message()
	if err != nil {
		return nil, err //nolint:wrapcheck // It names the delivery.
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(message); err != nil {
		return nil, fmt.Errorf("encoding a webhook delivery: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// excerpt returns the beginning of an answer as text.
func excerpt(answer []byte) string {
	text := strings.TrimSpace(visible.Text(string(answer)))
	for len(text) > maxAnswer || !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}
