package builtins

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Limits of http_request, in bytes.
const (
	httpRequestDefaultBytes = 256 << 10
	httpRequestMaxBytes     = 1 << 20
	httpRequestBinaryBytes  = 700 << 10 // With base64 and metadata, under the limit of a result.
	httpRequestMaxBody      = 256 << 10
)

const httpRequestInputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["url"],
  "properties": {
    "method": {"type": "string", "enum": ["GET", "HEAD"], "description": "GET when absent."},
    "url": {"type": "string", "description": "A public http or https URL."},
    "headers": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 32, "description": "Request headers, such as Accept. No credentials."},
    "max_bytes": {"type": "integer", "minimum": 1, "maximum": 1048576, "description": "How much of the body to read; 262144 when absent. A longer body is cut."}
  }
}`

// httpRequestWriteSchema is for tools of the class write.
const httpRequestWriteSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["method", "url"],
  "properties": {
    "method": {"type": "string", "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]},
    "url": {"type": "string", "description": "A public http or https URL."},
    "headers": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 32, "description": "Request headers, such as Accept. No credentials."},
    "json": {"description": "A body to send as JSON. Either this or body."},
    "body": {"type": "string", "maxLength": 262144, "description": "A body to send as it is; say what it is in the header Content-Type."},
    "max_bytes": {"type": "integer", "minimum": 1, "maximum": 1048576, "description": "How much of the answer's body to read; 262144 when absent. A longer body is cut."}
  }
}`

const httpRequestOutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["status"],
  "properties": {
    "status": {"type": "integer"},
    "url": {"type": "string", "description": "Where the answer came from, where it was redirected."},
    "headers": {"type": "object", "additionalProperties": {"type": "string"}},
    "json": {"description": "The body, where it is JSON."},
    "text": {"type": "string", "description": "The body, where it is text."},
    "truncated": {"type": "boolean", "description": "The body was longer than max_bytes."}
  }
}`

// shownHeaders are the response headers in the result.
var shownHeaders = []string{
	"Cache-Control", "Content-Language", "Content-Length", "Content-Type", "Etag", "Last-Modified", "Location",
	"Retry-After",
}

type httpRequestInput struct {
	Method   string            `json:"method"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	JSON     json.RawMessage   `json:"json"`
	Body     string            `json:"body"`
	MaxBytes int64             `json:"max_bytes"`
}

type httpRequestOutput struct {
	Status    int               `json:"status"`
	URL       string            `json:"url,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	JSON      json.RawMessage   `json:"json,omitempty"`
	Text      string            `json:"text,omitempty"`
	Truncated bool              `json:"truncated,omitempty"`
}

// httpRequestConfig is the implementation_config of a tenant's own
// http_request.
type httpRequestConfig struct {
	builtinConfig

	// Auth is the credential to send, to the hosts it is bound to. Requests to other
	// hosts are refused. Defaults to none.
	Auth *auth `json:"auth"`
}

// httpRequest sends a request described by the model. As a global tool, available to any
// agent, it only reads, without a credential. A tenant's own tool of the class write may
// have effects, and one with auth in its configuration is authenticated; a model can never
// add a credential. The guard refuses requests that the class does not allow, and reports
// them as drift.
//
// A 4xx response gives an error result; 401 and 403 are Denied if the platform sent a
// credential. 408, 425 and 429 are RateLimited, 5xx Unavailable.
func httpRequest(gate *egress.Gate, secrets secret.Resolver, clock func() time.Time) Builtin {
	spec := Spec{
		Key: "http_request", Version: "1.1.2",
		Definition: tool.Definition{
			Name: "HTTP request",
			Description: "Fetches a public URL by GET or HEAD and returns its status, headers and body. Use it for APIs, " +
				"and when headers or the exact bytes matter. To read a page use web_fetch instead, and to find one web_search.",
			Category:       "web",
			InputSchema:    json.RawMessage(httpRequestInputSchema),
			OutputSchema:   json.RawMessage(httpRequestOutputSchema),
			Implementation: tool.Internal,
			Execution:      tool.Execution{Pure: true, MaxConcurrency: tool.ReadConcurrency, ConcurrencyGroup: "http_request"},
		},
		Policy: tool.Policy{EgressClass: tool.EgressReadOnly, PermissionPolicy: tool.PermissionAuto},
	}
	return Builtin{
		Spec:      spec,
		Untrusted: true,
		For: func(_ json.RawMessage, class tool.Egress) tool.Definition {
			d := spec.Definition
			if class == tool.EgressWrite {
				d.Description = "Sends an HTTP request and returns the status, headers and body of the answer. Use it only " +
					"when no tool of its own does the same. Read what is there before you change it."
				d.InputSchema = json.RawMessage(httpRequestWriteSchema)
				d.Execution = tool.Execution{ConcurrencyGroup: "http_request"}
				d.Interaction.OpenInput = true // "json" is up to the server.
			}
			return d
		},
		Check: func(raw json.RawMessage, _ tool.Egress) ([]string, error) {
			var c httpRequestConfig
			if err := decodeConfig(raw, &c); err != nil {
				return nil, err
			}
			return nil, c.Auth.check()
		},
		Run: func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			var in httpRequestInput
			if err := decodeArguments(call.Arguments, &in); err != nil {
				return nil, err
			}
			var c httpRequestConfig
			if err := decodeConfig(configOf(call), &c); err != nil {
				return nil, err
			}
			req, no := in.request(call)
			if no != "" {
				return tool.ErrorResult(no), nil
			}
			access := accessOf(call)
			var err error
			if access.Credential, err = c.Auth.open(ctx, secrets, call.Principal.Tenant); err != nil {
				return nil, err
			}
			resp, err := gate.Do(ctx, access, req)
			if err != nil {
				return nil, err
			}
			no2, err := (upstream{
				op: "builtins.http_request", resp: resp, now: clock(), ours: c.Auth != nil,
			}).refusal(secret.RedactorFrom(ctx))
			if no2 != nil || err != nil {
				return no2, err
			}
			return in.answer(secret.RedactorFrom(ctx), resp)
		},
	}
}

// writing are the methods that may have effects.
var writing = []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// request completes the input; no is the fault in it, if any.
func (in *httpRequestInput) request(call *tool.Call) (req *egress.Request, no string) {
	if in.Method == "" {
		in.Method = http.MethodGet
	}
	writes := slices.Contains(writing, in.Method)
	if !writes && in.Method != http.MethodGet && in.Method != http.MethodHead {
		return nil, fmt.Sprintf("method: want one of GET, HEAD, POST, PUT, PATCH and DELETE, not %.16q", in.Method)
	}
	if in.MaxBytes <= 0 {
		in.MaxBytes = httpRequestDefaultBytes
	}
	in.MaxBytes = min(in.MaxBytes, httpRequestMaxBytes)
	req = &egress.Request{Method: in.Method, URL: in.URL, Repeatable: !writes, MaxBytes: in.MaxBytes}
	if req.Header, no = in.header(); no != "" {
		return nil, no
	}
	if req.Body, no = in.body(req.Header); no != "" {
		return nil, no
	}
	if call.EffectID != "" {
		req.Header.Set("Idempotency-Key", call.EffectID)
	}
	return req, ""
}

func (in *httpRequestInput) header() (header http.Header, no string) {
	header = make(http.Header)
	for name, value := range in.Headers {
		switch http.CanonicalHeaderKey(name) {
		case "Host", "Connection", "Content-Length", "Transfer-Encoding", "Accept-Encoding", "Upgrade", "Te", "Trailer",
			"Expect", "Keep-Alive", "Idempotency-Key":
			return nil, fmt.Sprintf("the header %.64q is set by the platform", name)
		}
		if secret.SensitiveKey(name) || strings.HasPrefix(http.CanonicalHeaderKey(name), "Proxy-") {
			return nil, fmt.Sprintf("the header %.64q carries credentials, which http_request does not take from a call", name)
		}
		if strings.ContainsFunc(name+value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return nil, fmt.Sprintf("the header %.64q contains a line break or another control character", name)
		}
		header.Set(name, value)
	}
	return header, ""
}

// body returns the body to send, and sets its content type if it is JSON.
func (in *httpRequestInput) body(header http.Header) (raw []byte, no string) {
	if in.Body == "" && len(in.JSON) == 0 {
		return nil, ""
	}
	switch {
	case in.Method == http.MethodGet, in.Method == http.MethodHead:
		return nil, "a " + in.Method + " request has no body"
	case in.Body != "" && len(in.JSON) > 0:
		return nil, "give either json or body"
	case max(len(in.Body), len(in.JSON)) > httpRequestMaxBody:
		return nil, fmt.Sprintf("the body is longer than %d bytes", httpRequestMaxBody)
	case in.Body != "":
		return []byte(in.Body), ""
	}
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	return in.JSON, ""
}

func (in *httpRequestInput) answer(known *secret.Redactor, r *egress.Response) (*tool.Result, error) {
	if r.Truncated {
		cut := *r
		cut.Body, r = withoutPart(known, r), &cut
	}
	out := httpRequestOutput{Status: r.Status, Headers: make(map[string]string), Truncated: r.Truncated}
	if r.URL != in.URL {
		out.URL = plain(r.URL)
	}
	for _, name := range shownHeaders {
		if v := r.Header.Get(name); v != "" {
			out.Headers[strings.ToLower(name)] = phrase(known.Text(v), 1000)
		}
	}
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // Empty when malformed.
	body := bytes.TrimSpace(r.Body)
	var blob *tool.Content
	switch {
	case len(body) == 0:
	case !r.Truncated && strings.HasSuffix(mediaType, "json") && json.Valid(body) && utf8.Valid(body):
		out.JSON = body
	case slices.Contains(images, mediaType) && http.DetectContentType(r.Body) == mediaType:
		blob = &tool.Content{Type: tool.ContentImage, Data: r.Body, MIMEType: mediaType}
	case strings.HasPrefix(mediaType, "text/"), utf8.Valid(r.Body),
		r.Truncated && utf8.Valid(r.Body[:max(0, len(r.Body)-utf8.UTFMax)]):
		out.Text = strings.ToValidUTF8(string(r.Body), "")
	default:
		blob = &tool.Content{Type: tool.ContentResource, Data: r.Body, MIMEType: mediaType, URI: plain(r.URL)}
	}
	res, err := structured(out)
	if err != nil || blob == nil {
		return res, err
	}
	if r.Truncated || len(blob.Data) > httpRequestBinaryBytes {
		return tool.ErrorResult(fmt.Sprintf("the upstream answered more than %d bytes of %s: it cannot be cut",
			min(in.MaxBytes, httpRequestBinaryBytes), phrase(mediaType, 100))), nil
	}
	res.Content = append(res.Content, *blob)
	return res, nil
}
