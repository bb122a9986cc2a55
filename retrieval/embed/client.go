package embed

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// Limits of requests and responses.
const (
	// MaxText bounds one text with its prefix, in bytes.
	MaxText = 64 << 10
	// maxBatchBytes bounds the texts of one request, in addition to their number. A text
	// is never cut.
	maxBatchBytes = 1 << 20
	// maxNumber is the maximum size of one number of a vector, in bytes.
	maxNumber  = 32
	maxMargin  = 64 << 10
	maxTimeout = time.Minute
)

// Client is a client of embeddings endpoints. It is safe for concurrent use.
type Client struct {
	gate    *egress.Gate
	secrets secret.Resolver
}

var _ retrieval.Embedder = (*Client)(nil)

// New returns a client that sends through gate. Secrets opens the credentials of models; nil for
// none.
func New(gate *egress.Gate, secrets secret.Resolver) *Client {
	return &Client{gate: gate, secrets: secrets}
}

// Embed implements [retrieval.Embedder]. Vectors are normalized: their dot product is the cosine.
// Batches are sent one after the other; if one fails, Embed fails.
//
// It fails with a [*tool.Error]. Invalid: the configuration or a text is invalid, the endpoint refused
// the request, or its vectors have another length. Denied: the egress guard refused the host, or the
// credential is missing, not bound to that host, or rejected. RateLimited and Unavailable: retry,
// after RetryAfter if set; Unavailable also means a malformed response. Timeout and Cancelled: by
// ctx; without a deadline, each request has a minute.
func (c *Client) Embed(
	ctx context.Context, tenant tool.TenantID, cfg retrieval.EmbeddingConfig, kind retrieval.TextKind, texts []string,
) ([][]float32, error) {
	if err := cfg.Check("/embedding"); err != nil {
		return nil, fmt.Errorf("checking the embedding model: %w", err)
	}
	prefix := cfg.DocumentPrefix
	if kind == retrieval.QueryText {
		prefix = cfg.QueryPrefix
	}
	prefixed := make([]string, len(texts))
	for i, text := range texts {
		if prefixed[i] = prefix + text; text == "" || len(prefixed[i]) > MaxText {
			return nil, &tool.Error{
				Kind: tool.Invalid, Op: "embed.Embed", Path: fmt.Sprintf("/texts/%d", i),
				Msg: fmt.Sprintf("a text of %d bytes can't be embedded: want 1 to %d, with its prefix", len(text), MaxText),
			}
		}
	}
	x := &exchange{
		client: c, cfg: cfg, access: egress.Access{Tenant: tenant, Class: tool.EgressWrite}, known: secret.NewRedactor(),
	}
	if err := x.authorize(ctx); err != nil {
		return nil, err
	}
	out := make([][]float32, 0, len(texts))
	for len(prefixed) > 0 {
		n := batch(prefixed, cfg.Batch())
		vectors, err := x.ask(ctx, prefixed[:n])
		if err != nil {
			return nil, err
		}
		out, prefixed = append(out, vectors...), prefixed[n:]
	}
	return out, nil
}

// batch returns the number of texts in the next request: at least one and at most most.
func batch(texts []string, most int) int {
	size := 0
	for i, text := range texts {
		if size += len(text); i > 0 && (i == most || size > maxBatchBytes) {
			return i
		}
	}
	return len(texts)
}

// exchange is the state of one call's requests.
type exchange struct {
	client *Client
	cfg    retrieval.EmbeddingConfig
	access egress.Access
	known  *secret.Redactor // Of what endpoints say.
}

// authorize opens the model's credential, if any.
func (x *exchange) authorize(ctx context.Context) error {
	if x.cfg.CredentialsRef == "" {
		return nil
	}
	if x.client.secrets == nil {
		return x.fail(tool.Denied, "the credential "+x.cfg.CredentialsRef+" is not available: this process opens none")
	}
	v, err := secret.Open(ctx, x.client.secrets, x.access.Tenant, x.cfg.CredentialsRef)
	if err != nil {
		return fmt.Errorf("opening the credential of the embeddings endpoint: %w", err)
	}
	x.known.Add(v)
	x.access.Credential = &egress.Credential{Value: v, Scheme: egress.Bearer}
	return nil
}

// wanted is the body of a request.
type wanted struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Encoding   string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions,omitempty"`
}

// ask embeds one batch.
func (x *exchange) ask(ctx context.Context, texts []string) ([][]float32, error) {
	want := wanted{Model: x.cfg.Model, Input: texts, Encoding: "float"} // Every endpoint supports it.
	if x.cfg.RequestDimensions {
		want.Dimensions = x.cfg.Dimensions
	}
	raw, err := json.Marshal(want)
	if err != nil {
		return nil, fmt.Errorf("encoding a request for embeddings: %w", err)
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, maxTimeout)
		defer cancel()
	}
	resp, err := x.client.gate.Do(ctx, x.access, &egress.Request{
		Method: http.MethodPost, URL: strings.TrimRight(x.cfg.URL, "/") + "/embeddings", Body: raw, Repeatable: true,
		Header:   http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}},
		MaxBytes: int64(len(texts)*x.cfg.Dimensions*maxNumber + maxMargin),
	})
	if err != nil {
		return nil, fmt.Errorf("asking the embeddings endpoint: %w", err)
	}
	if resp.Status != http.StatusOK {
		return nil, x.refusal(resp)
	}
	if resp.Truncated {
		return nil, x.garbled(fmt.Sprintf("it is longer than %d vectors of %d dimensions can be", len(texts),
			x.cfg.Dimensions))
	}
	return x.read(resp.Body, len(texts))
}
