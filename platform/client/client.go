package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// Config says which server to call, and with which key.
type Config struct {
	Server string // Such as "http://127.0.0.1:8080". Required.
	Key    string // An API key. Empty for the endpoints that require none.
	// Timeout bounds a request whose context has no deadline. Defaults to
	// [DefaultTimeout].
	Timeout time.Duration
	// UserAgent defaults to "toolcrib-client".
	UserAgent string
}

// DefaultTimeout is the default of [Config.Timeout].
const DefaultTimeout = 90 * time.Second

// maxAnswerBytes bounds the size of an answer.
const maxAnswerBytes = 64 << 20

// Client calls one server. It is safe for concurrent use.
type Client struct {
	base *url.URL
	key  string
	gate *egress.Gate
	once string // See [Client.Once].
}

// New returns a client. The caller closes it. It fails with tool.Invalid if the
// server is not an http or https URL, or the key is malformed.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(cfg.Server)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "client.New",
			Msg: fmt.Sprintf("the server %q is no http or https URL, such as http://127.0.0.1:8080", cfg.Server), Err: err,
		}
	}
	if strings.ContainsFunc(cfg.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "client.New", Msg: "the API key has spaces or characters that no key has",
		}
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = "toolcrib-client"
	}
	// The user names the server, so its host is allowed at any address.
	policy := egress.Policy{AllowHosts: []string{base.Host}}
	gate, err := egress.New(egress.Config{
		Policy:  func(tool.TenantID) egress.Policy { return policy },
		Timeout: cfg.Timeout, MaxBytes: maxAnswerBytes, MaxRedirects: -1, UserAgent: cfg.UserAgent,
	})
	if err != nil {
		return nil, fmt.Errorf("making the way to the server: %w", err)
	}
	return &Client{base: base, key: cfg.Key, gate: gate}, nil
}

// Once returns a client that names its next request: however often a POST is
// sent with the same key and content, within a day, the server serves it once.
// It is for one request, and shares everything else with c.
func (c *Client) Once(key string) *Client {
	named := *c
	named.once = key
	return &named
}

// Close closes idle connections.
func (c *Client) Close() { c.gate.Close() }

// Server returns the server's URL.
func (c *Client) Server() string { return c.base.String() }

// request is one call of an endpoint.
type request struct {
	method string
	path   []string // Elements after /v1, escaped where that is needed.
	query  url.Values
	body   any
	raw    []byte // The content of a file, instead of a body.
}

// do calls an endpoint under /v1 and decodes its answer into out. GETs are
// repeated on a stale connection.
func (c *Client) do(ctx context.Context, r request, out any) error {
	got, err := c.send(ctx, r, append([]string{"v1"}, r.path...))
	switch {
	case err != nil:
	case got.status >= http.StatusMultipleChoices:
		err = c.problem(got)
	default:
		err = c.decode(got, out)
	}
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Sent && !c.repeatable(r.method) {
		if _, answered := Problem(err); !answered { // The server says itself what may be sent again.
			e.Acted = true
		}
	}
	return err
}

// repeatable reports whether a request may be sent again although it may have
// been served: it changes nothing, or has an idempotency key.
func (c *Client) repeatable(method string) bool {
	return method == http.MethodGet || c.once != "" && method == http.MethodPost
}

// answer is what a server answered.
type answer struct {
	status int
	body   []byte
}

func (c *Client) send(ctx context.Context, r request, path []string) (got answer, err error) {
	req := &egress.Request{
		Method: r.method, URL: c.url(path, r.query), Header: http.Header{"Accept": {"application/json"}},
		Repeatable: c.repeatable(r.method),
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if c.once != "" && r.method == http.MethodPost {
		req.Header.Set("Idempotency-Key", c.once)
	}
	if r.body != nil {
		if req.Body, err = json.Marshal(r.body); err != nil {
			return answer{}, fmt.Errorf("encoding the request: %w", err)
		}
		req.Header.Set("Content-Type", "application/json")
	}
	if r.raw != nil {
		req.Body = r.raw
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	resp, err := c.gate.Do(ctx, egress.Access{Class: tool.EgressWrite}, req)
	if err != nil {
		return answer{}, unreachable(c.base.String(), err)
	}
	if resp.Truncated {
		return answer{}, &tool.Error{
			Kind: tool.InternalError, Op: "client", Msg: "the server's answer is too large", Sent: true,
		}
	}
	return answer{resp.Status, resp.Body}, nil
}

func (c *Client) url(path []string, query url.Values) string {
	escaped := make([]string, len(path))
	for i, element := range path {
		escaped[i] = url.PathEscape(element)
	}
	text := strings.TrimSuffix(c.base.String(), "/") + "/" + strings.Join(escaped, "/")
	if len(query) > 0 {
		text += "?" + query.Encode()
	}
	return text
}

// problem returns the error of an answer.
func (c *Client) problem(a answer) error {
	var p v1.Problem
	switch {
	case json.Unmarshal(a.body, &p) == nil && p.Code != "":
		return p.ToolError()
	case a.status == http.StatusBadGateway, a.status == http.StatusServiceUnavailable,
		a.status == http.StatusGatewayTimeout:
		return &tool.Error{
			Kind: tool.Unavailable, Op: "client", Sent: true, Answered: true,
			Msg: fmt.Sprintf("something in front of the server %s answered %d: the server behind it is not answering", c.base,
				a.status),
		}
	default:
		return &NotToolcribError{Server: c.base.String(), Status: a.status}
	}
}

// decode reads an answer without losing digits of numbers.
func (c *Client) decode(a answer, out any) error {
	if !json.Valid(a.body) {
		return &NotToolcribError{Server: c.base.String(), Status: a.status}
	}
	dec := json.NewDecoder(bytes.NewReader(a.body))
	dec.UseNumber()
	if err := dec.Decode(out); err != nil {
		return &tool.Error{
			Kind: tool.InternalError, Op: "client", Msg: "the server's answer is not what was expected", Sent: true, Err: err,
		}
	}
	return nil
}

// Problem returns the problem that the server answered with, if err holds one.
func Problem(err error) (*v1.Problem, bool) { return errors.AsType[*v1.Problem](err) }
