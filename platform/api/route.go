package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// route describes an endpoint.
type route struct {
	id         string // Operation id, as clients generated from the description call it.
	method     string
	path       string
	tag        string
	summary    string
	detail     string
	permission string
	or         []string // Other permissions that suffice.
	// anyone says that every valid key, token or session suffices: the answer is about its principal alone.
	anyone   bool
	status   int    // Of success; 200 when zero.
	accepted string // Description of 202, which has the body of 200.
	maxBody  int64  // The server's limit when zero.
	// body describes a body that the handler reads as raw JSON, in any of the
	// spellings that definitions may have.
	body reflect.Type
	// secret says that the answer holds a secret, which must not be stored.
	secret bool
	// confidential says that the request holds a secret: the digest that
	// distinguishes such requests must not help to guess it.
	confidential bool
	// token says that a token for one call suffices, instead of a key.
	token bool
	// stream says that the answer is a stream, which is not stored either.
	stream bool
	// ephemeral says that the request changes nothing, and that its answer is not stored.
	ephemeral bool
}

// body is a request or a response that is only its body.
type body[T any] struct{ Body T }

// listed is the response with a page of a list.
type listed[T any] = body[v1.Page[T]]

func answer[T any](value T) *body[T] { return &body[T]{value} }

// handle registers an endpoint. The handler gets the principal of the request
// as an argument, so that its tenant is explicit. An error that it returns
// is returned as a problem, and its cause is logged.
func handle[I, O any](s *server, r route, fn func(ctx context.Context, p tool.Principal, in *I) (*O, error)) {
	op := huma.Operation{
		OperationID: r.id, Method: r.method, Path: r.path, Summary: r.summary, Description: r.description(),
		Tags: []string{r.tag}, DefaultStatus: r.status, MaxBodyBytes: r.maxBody,
		Security:        []map[string][]string{{"key": {}}},
		Middlewares:     huma.Middlewares{s.authorize(r), s.receive, s.once},
		Responses:       map[string]*huma.Response{"default": s.problemResponse()},
		Metadata:        map[string]any{withheld: r.secret, confidential: r.confidential},
		BodyReadTimeout: -1, // The body was read before, within the server's time.
	}
	if op.MaxBodyBytes == 0 {
		op.MaxBodyBytes = s.cfg.MaxBodyBytes
	}
	op.MaxBodyBytes++ // The framework refuses a body of just its limit.
	if r.body != nil {
		schema := s.api.OpenAPI().Components.Schemas.Schema(r.body, true, r.id)
		op.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{jsonType: {Schema: schema}}}
		op.SkipValidateBody = true
	}
	if r.stream {
		op.Middlewares = huma.Middlewares{s.authorize(r), s.receive, refuseKey(streamed)}
	} else if r.ephemeral {
		op.Middlewares = huma.Middlewares{s.authorize(r), s.receive, refuseKey(unchanging)}
	} else if r.method == http.MethodPost {
		op.Parameters = append(op.Parameters, keyParameter())
	}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		p, ok := ctx.Value(principalKey{}).(tool.Principal)
		if !ok || p.Tenant == "" {
			return nil, s.problem(ctx, r.id, errors.New("the operation was reached without a principal"))
		}
		out, err := fn(ctx, p, in)
		if err != nil {
			return nil, s.problem(ctx, r.id, s.auditRefusal(ctx, r.id, p, err))
		}
		return out, nil
	})
	if ok := op.Responses[strconv.Itoa(http.StatusOK)]; r.method == http.MethodGet && ok != nil &&
		ok.Headers["Etag"] != nil {
		op.Responses[strconv.Itoa(http.StatusNotModified)] = &huma.Response{
			Description: "Nothing changed since the ETag in If-None-Match",
		}
	}
	s.describeProblems(&op, r)
	if r.accepted != "" {
		describeLike(op, http.StatusAccepted, r.accepted)
	}
}

// describeProblems lists the statuses with which an endpoint refuses requests. The
// others are the description's default.
func (s *server) describeProblems(op *huma.Operation, r route) {
	statuses := []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests, http.StatusServiceUnavailable,
	}
	if strings.Contains(r.path, "{") {
		statuses = append(statuses, http.StatusNotFound)
	}
	if r.method != http.MethodGet {
		statuses = append(statuses, http.StatusConflict)
	}
	if op.RequestBody != nil {
		statuses = append(statuses, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == "If-Match" }) {
		statuses = append(statuses, http.StatusPreconditionFailed)
	}
	for _, status := range statuses {
		response := s.problemResponse()
		response.Description = http.StatusText(status)
		op.Responses[strconv.Itoa(status)] = response
	}
}

// describeLike describes another status whose body is that of 200.
func describeLike(op huma.Operation, status int, says string) {
	op.Responses[strconv.Itoa(status)] = &huma.Response{
		Description: says, Content: op.Responses[strconv.Itoa(http.StatusOK)].Content,
	}
}

// keyParameter describes the header for idempotent requests, which the
// middleware reads.
func keyParameter() *huma.Param {
	most, least := maxKeyLength, 1
	return &huma.Param{
		Name: KeyHeader, In: "header", Example: "3f1c9a52-order-4711",
		Description: "Serves the request once: sent again within 24 hours, with the same key and the same content, it gets " +
			"the stored answer, with `" + ReplayedHeader +
			": true`. With other content it is refused (422), and while it is being served " +
			"too (409, `Retry-After`). Answers with a status of 500 or above are not stored.",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most},
	}
}

// permissions lists the permissions of which one is required.
func (r route) permissions() []string {
	return append([]string{r.permission}, r.or...)
}

func (r route) description() string {
	if r.anyone {
		return r.detail + "\n\nPermission: none beside a valid key."
	}
	text := "Permission: `" + strings.Join(r.permissions(), "` or `") + "`."
	if r.detail != "" {
		text = r.detail + "\n\n" + text
	}
	return text
}

// problem returns the problem that the caller gets for err. It logs err if the
// status is 500 or above, where the problem holds no cause.
func (s *server) problem(ctx context.Context, operation string, err error) *v1.Problem {
	p := problemOf(err)
	if p.Status >= http.StatusInternalServerError {
		s.log.ErrorContext(ctx, "a request failed", slog.String("operation", operation),
			slog.String("kind", string(p.Code)), slog.String("trace_id", traceID(ctx)), slog.Any("error", err))
	}
	return p
}

// problemResponse describes the answer to every error.
func (s *server) problemResponse() *huma.Response {
	schema := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[v1.Problem](), true, "Problem")
	return &huma.Response{
		Description: "What went wrong",
		Content:     map[string]*huma.MediaType{v1.ProblemType: {Schema: schema}},
	}
}
