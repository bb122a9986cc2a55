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

// Config says which server to call, and as whom.
type Config struct {
	Server string // Such as "http://127.0.0.1:8080". Required.
	Key    string // An API key. Empty for the endpoints that want none.
	// Timeout bounds a request whose context has no deadline. Defaults to
	// [DefaultTimeout].
	Timeout time.Duration
	// UserAgent defaults to "toolcrib-client".
	UserAgent string
}

// DefaultTimeout is the default of [Config.Timeout].
const DefaultTimeout = 90 * time.Second

// maxAnswerBytes bounds what is read of an answer.
const maxAnswerBytes = 64 << 20

// Client calls one server. It is safe for concurrent use.
type Client struct {
	base *url.URL
	key  string
	gate *egress.Gate
}

// New returns a client. The caller closes it. It fails with tool.Invalid for a
// server that is no http or https URL.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(cfg.Server)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "client.New",
			Msg: fmt.Sprintf("the server %q is no http or https URL, such as http://127.0.0.1:8080", cfg.Server), Err: err,
		}
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = "toolcrib-client"
	}
	// Its user names the server, so that one host is allowed, wherever it is.
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
	out    any // Where the answer goes; nil to drop it.
}

// do calls an endpoint under /v1. GETs are repeated on a stale connection.
func (c *Client) do(ctx context.Context, r request) error {
	raw, status, err := c.send(ctx, r, append([]string{"v1"}, r.path...))
	if err != nil {
		return err
	}
	if status >= http.StatusBadRequest {
		return problem(raw, status)
	}
	return decode(raw, r.out)
}

func (c *Client) send(ctx context.Context, r request, path []string) (raw []byte, status int, err error) {
	req := &egress.Request{
		Method: r.method, URL: c.url(path, r.query), Header: http.Header{"Accept": {"application/json"}},
		Repeatable: r.method == http.MethodGet,
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if r.body != nil {
		if req.Body, err = json.Marshal(r.body); err != nil {
			return nil, 0, fmt.Errorf("encoding the request: %w", err)
		}
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.gate.Do(ctx, egress.Access{Class: tool.EgressWrite}, req)
	if err != nil {
		return nil, 0, unreachable(c.base.String(), err)
	}
	if resp.Truncated {
		return nil, 0, &tool.Error{Kind: tool.InternalError, Op: "client", Msg: "the server's answer is too large", Sent: true}
	}
	return resp.Body, resp.Status, nil
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

// UnreachableError says that the server gave no answer.
type UnreachableError struct {
	Server string
	Err    error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("the server %s is not answering: %v", e.Server, e.Err)
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// unreachable marks the failures of a server that is not there.
func unreachable(server string, err error) error {
	if tool.KindOf(err) == tool.Unavailable {
		return &UnreachableError{Server: server, Err: err}
	}
	return err
}

// problem returns the error that an answer stands for.
func problem(raw []byte, status int) error {
	var p v1.Problem
	if json.Unmarshal(raw, &p) != nil || p.Code == "" {
		return &tool.Error{
			Kind: tool.InternalError, Op: "client", Sent: true, Answered: true,
			Msg: fmt.Sprintf("the server answered %d without saying why; is it a Toolcrib server?", status),
		}
	}
	return p.ToolError()
}

// decode reads an answer without losing digits of numbers.
func decode(raw []byte, out any) error {
	if out == nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(out); err != nil {
		return &tool.Error{Kind: tool.InternalError, Op: "client", Msg: "the server's answer is not what was expected", Sent: true, Err: err}
	}
	return nil
}

// Problem returns the problem that the server answered with, if err tells of one.
func Problem(err error) (*v1.Problem, bool) { return errors.AsType[*v1.Problem](err) }
