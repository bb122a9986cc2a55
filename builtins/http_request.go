package builtins

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
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
	httpRequestExcerpt      = 2 << 10
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

const httpRequestOutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["status"],
  "properties": {
    "status": {"type": "integer"},
    "headers": {"type": "object", "additionalProperties": {"type": "string"}},
    "json": {"description": "The body, where it is JSON."},
    "text": {"type": "string", "description": "The body, where it is text."},
    "truncated": {"type": "boolean", "description": "The body was longer than max_bytes."}
  }
}`

// shownHeaders are the answer's headers that the model is shown.
var shownHeaders = []string{"Cache-Control", "Content-Language", "Content-Length", "Content-Type", "Etag", "Last-Modified", "Location", "Retry-After"}

type httpRequestInput struct {
	Method   string            `json:"method"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	MaxBytes int64             `json:"max_bytes"`
}

type httpRequestOutput struct {
	Status    int               `json:"status"`
	Headers   map[string]string `json:"headers,omitempty"`
	JSON      json.RawMessage   `json:"json,omitempty"`
	Text      string            `json:"text,omitempty"`
	Truncated bool              `json:"truncated,omitempty"`
}

// httpRequest fetches what the model asks for. As a global tool that any agent
// may be given, it only reads: methods that change something belong to http
// tools, whose authors decide where they go and who approves them.
//
// An answer of 4xx is the tool's "no", 401 and 403 included: no credential of
// ours was refused. 408, 425 and 429 are RateLimited, 5xx Unavailable.
func httpRequest(gate *egress.Gate, clock func() time.Time) Builtin {
	return Builtin{
		Spec: Spec{
			Key: "http_request", Version: "1.0.0",
			Definition: tool.Definition{
				Name:           "HTTP request",
				Description:    "Fetches a public URL by GET or HEAD and returns its status, headers and body.",
				Category:       "web",
				InputSchema:    json.RawMessage(httpRequestInputSchema),
				OutputSchema:   json.RawMessage(httpRequestOutputSchema),
				Implementation: tool.Internal,
				Execution:      tool.Execution{Pure: true, MaxConcurrency: 4, ConcurrencyGroup: "http_request"},
			},
			Policy: tool.Policy{EgressClass: tool.EgressReadOnly, PermissionPolicy: tool.Auto},
		},
		Run: func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			var in httpRequestInput
			if err := decodeArguments(call.Arguments, &in); err != nil {
				return nil, err
			}
			header, no := in.check()
			if no != "" {
				return tool.ErrorResult(no), nil
			}
			if call.EffectID != "" {
				header.Set("Idempotency-Key", call.EffectID)
			}
			access := egress.Access{Tenant: call.Principal.Tenant, Class: call.Egress}
			resp, err := gate.Do(ctx, access, &egress.Request{
				Method: in.Method, URL: in.URL, Header: header, Repeatable: true, MaxBytes: in.MaxBytes,
			})
			if err != nil {
				return nil, err //nolint:wrapcheck // A *tool.Error already.
			}
			return in.answer(resp, clock())
		},
	}
}

// check completes the input and says what is wrong with it, if anything.
func (in *httpRequestInput) check() (header http.Header, no string) {
	if in.Method == "" {
		in.Method = http.MethodGet
	}
	if in.Method != http.MethodGet && in.Method != http.MethodHead {
		return nil, fmt.Sprintf("http_request only reads: it sends GET and HEAD, not %.16q; ask for a tool that was made for this change", in.Method)
	}
	if in.MaxBytes <= 0 {
		in.MaxBytes = httpRequestDefaultBytes
	}
	in.MaxBytes = min(in.MaxBytes, httpRequestMaxBytes)
	header = make(http.Header)
	for name, value := range in.Headers {
		switch http.CanonicalHeaderKey(name) {
		case "Host", "Connection", "Content-Length", "Transfer-Encoding", "Accept-Encoding", "Upgrade", "Te", "Trailer", "Expect", "Keep-Alive", "Idempotency-Key":
			return nil, fmt.Sprintf("the header %.64q is set by the platform", name)
		}
		if secret.SensitiveKey(name) || strings.HasPrefix(http.CanonicalHeaderKey(name), "Proxy-") {
			return nil, fmt.Sprintf("the header %.64q carries credentials, which http_request does not send", name)
		}
		if strings.ContainsFunc(name+value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return nil, fmt.Sprintf("the header %.64q holds a line break or another control character", name)
		}
		header.Set(name, value)
	}
	return header, ""
}

func (in *httpRequestInput) answer(r *egress.Response, now time.Time) (*tool.Result, error) {
	status := strings.TrimSpace(fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status)))
	failed := &tool.Error{Op: "builtins.http_request", Sent: true, Answered: true, RetryAfter: egress.RetryAfter(r.Header, now)}
	switch {
	case r.Status == http.StatusRequestTimeout, r.Status == http.StatusTooEarly, r.Status == http.StatusTooManyRequests:
		failed.Kind, failed.Msg = tool.RateLimited, "the upstream asks to come back later: it answered "+status
		return nil, failed
	case r.Status >= http.StatusInternalServerError:
		failed.Kind, failed.Msg = tool.Unavailable, "the upstream failed: it answered "+status
		return nil, failed
	case r.Status >= http.StatusBadRequest:
		text := strings.ToValidUTF8(string(r.Body[:min(len(r.Body), httpRequestExcerpt)]), "")
		return tool.ErrorResult(strings.TrimSuffix("the upstream answered "+status+": "+strings.TrimSpace(text), ": ")), nil
	}
	out := httpRequestOutput{Status: r.Status, Headers: make(map[string]string), Truncated: r.Truncated}
	for _, name := range shownHeaders {
		if v := r.Header.Get(name); v != "" {
			out.Headers[strings.ToLower(name)] = v
		}
	}
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // Empty when malformed.
	body := bytes.TrimSpace(r.Body)
	var blob *tool.Content
	switch {
	case len(body) == 0:
	case !r.Truncated && strings.HasSuffix(mediaType, "json") && json.Valid(body) && utf8.Valid(body):
		out.JSON = body
	case strings.HasPrefix(mediaType, "image/"):
		blob = &tool.Content{Type: tool.ImageContent, Data: r.Body, MIMEType: mediaType}
	case strings.HasPrefix(mediaType, "text/"), utf8.Valid(r.Body), r.Truncated && utf8.Valid(r.Body[:max(0, len(r.Body)-utf8.UTFMax)]):
		out.Text = strings.ToValidUTF8(string(r.Body), "")
	default:
		blob = &tool.Content{Type: tool.ResourceContent, Data: r.Body, MIMEType: mediaType, URI: in.URL}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf) // Keeps the body's own number spellings; Marshal would compact it.
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("encoding answer: %w", err)
	}
	res := tool.JSONResult(bytes.TrimSpace(buf.Bytes()))
	if blob != nil {
		if r.Truncated {
			return tool.ErrorResult(fmt.Sprintf("the upstream answered more than %d bytes of %s: half of it is of no use", in.MaxBytes, mediaType)), nil
		}
		res.Content = append(res.Content, *blob)
	}
	return res, nil
}
