package api

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Headers of requests that are served once.
const (
	KeyHeader      = "Idempotency-Key"     // The caller's name for a request.
	ReplayedHeader = "Idempotent-Replayed" // "true" on a stored answer.
)

const (
	// keepRequests is how long an answer is kept.
	keepRequests = 24 * time.Hour
	// keyLease is how long a server holds a key without renewing its lease. After a
	// crash, the key is free for the next request after at most that long.
	keyLease = 12 * time.Second
	// renewEvery is how often a server renews the lease of a key that it holds.
	renewEvery = 2 * time.Second
	// maxKeyLength bounds an idempotency key.
	maxKeyLength = 255
	// finishTimeout bounds the storing of an answer.
	finishTimeout = 5 * time.Second
	// takenOverRetry is the retry delay after another server took a request over.
	takenOverRetry = time.Second
	// releaseTimeout bounds the release of a key whose request failed. The
	// database may be the reason of the failure, and the caller waits for the
	// answer.
	releaseTimeout = 1500 * time.Millisecond
)

// keptHeaders are the headers that belong to an answer. Others, such as the
// trace id, belong to the request that is answered.
var keptHeaders = []string{"Allow", "Content-Type", "Etag", "Link", "Location", "Retry-After", "Www-Authenticate"}

// withheld marks operations whose answers hold a secret. Such an answer is
// never stored: the answer to a repeated request says only that the request was
// served, and what it created.
const withheld = "withheld"

// confidential marks operations whose requests hold a secret.
const confidential = "confidential"

// once serves a request with the idempotency key in [KeyHeader] once: a
// repetition of the request gets the stored answer, on any server. Keys belong
// to a principal; the same key of another principal is a different key.
//
// An answer is kept for a day, unless it says that the same request may succeed
// later. While a server serves the request, it renews its lease on the key. If
// the server dies, the request is served again once the lease has expired;
// operations that would then have their effect twice are deduplicated by
// [requestOf]. A server that could not renew its lease and was taken over is
// fenced off: its answer is neither stored nor returned, and the server that
// took over finds what it did.
func (s *server) once(ctx huma.Context, next func(huma.Context)) {
	r, w := humachi.Unwrap(ctx)
	given := r.Header.Values(KeyHeader)
	if r.Method != http.MethodPost || len(given) == 0 {
		next(ctx)
		return
	}
	if len(given) != 1 || !validKey(given[0]) {
		writeProblem(
			w, r,
			refusal(
				v1.KeyMalformed,
				fmt.Sprintf("%s must be one value of 1 to %d printable ASCII characters", KeyHeader, maxKeyLength),
			),
		)
		return
	}
	p, ok := ctx.Context().Value(principalKey{}).(tool.Principal)
	if !ok || p.Tenant == "" { // Authorisation comes first, and every principal has a tenant.
		s.refuse(ctx, &tool.Error{Kind: tool.InternalError, Op: "api.once"})
		return
	}
	key := store.RequestKey{Tenant: p.Tenant, Subject: p.Subject, Text: given[0]}
	digest, err := s.requestDigest(ctx, p.Tenant, given[0])
	if err != nil {
		s.refuse(ctx, credentialFailure(err))
		return
	}
	request, err := s.cfg.Store.BeginRequest(r.Context(), key, digest, keyLease, keepRequests)
	switch {
	case err != nil:
		s.refuse(ctx, err)
	case request.Digest != digest:
		writeProblem(
			w, r,
			refusal(v1.KeyReused, "this idempotency key was sent before, with another request: use a new key for a new request"),
		)
	case request.Answer != nil:
		w.Header().Set(ReplayedHeader, "true")
		writeAnswer(w, *request.Answer)
	case !request.Taken:
		writeProblem(w, r, inUse(request.Wait))
	default:
		s.serveOnce(ctx, next, key, request)
	}
}

// Why requests take no idempotency key.
const (
	streamed = "a stream cannot be replayed, so this request takes no " + KeyHeader +
		": send the request without streaming, with the key, and follow its run"
	signingIn  = "the answer is a secret of the browser and is not stored, so this request takes no " + KeyHeader
	unchanging = "this request changes nothing, and its answer is not stored, so it takes no " + KeyHeader
)

// refuseKey refuses an idempotency key where the answer is not stored.
func refuseKey(why string) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humachi.Unwrap(ctx)
		if len(r.Header.Values(KeyHeader)) > 0 {
			writeProblem(w, r, refusal(v1.KeyMalformed, why))
			return
		}
		next(ctx)
	}
}

// serveOnce serves a request whose key was taken, to its end, even if its
// caller leaves.
func (s *server) serveOnce(ctx huma.Context, next func(huma.Context), key store.RequestKey, request store.Request) {
	r, w := humachi.Unwrap(ctx)
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx.Context()), s.cfg.RequestTimeout)
	defer cancel()
	detached, lost := context.WithCancelCause(detached)
	defer lost(nil)
	at := &serving{id: request.ID}
	detached = context.WithValue(detached, requestKey{}, at)
	release := s.holdLease(detached, key, request.Fence, lost)
	defer release()
	answered := false
	defer func() {
		if !answered { // It panicked.
			_ = s.endOnce(detached, key, request, nil, false)
		}
	}()
	taken := &recorder{header: http.Header{}}
	next(humachi.NewContext(ctx.Operation(), r.WithContext(detached), taken))
	answered = true
	answer := taken.answer()
	release()
	if err := s.endOnce(detached, key, request, s.kept(ctx, answer, at.final),
		at.over); tool.KindOf(err) == tool.Conflict && err != nil {
		writeProblem(w, r, inUse(takenOverRetry))
		return
	}
	maps.Copy(w.Header(), taken.header)
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body) // An error cannot be reported any more.
}

// inUse is the answer to a request that is already being served. After wait the
// other has answered, renewed its lease, or lost it.
func inUse(wait time.Duration) *v1.Problem {
	p := refusal(v1.KeyInUse, "a request with this idempotency key is being served")
	p.RetryAfter = math.Ceil(max(wait, time.Second).Seconds())
	return p
}

// holdLease renews the lease of a key until release is called. Where another
// server has taken the request over, lost cancels the serving here.
func (s *server) holdLease(
	ctx context.Context, key store.RequestKey, fence int64, lost context.CancelCauseFunc,
) (release func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(renewEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			err := s.cfg.Store.RenewRequest(ctx, key, fence, keyLease)
			switch {
			case err == nil || ctx.Err() != nil:
			case tool.KindOf(err) == tool.Conflict:
				lost(err)
				return
			default: // Tried again: the lease outlasts several failures.
				s.log.WarnContext(ctx, "renewing the lease of an idempotency key failed",
					slog.String("tenant_id", string(key.Tenant)), slog.Any("error", err))
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// kept returns the answer to store, or nil if the request must be served again.
// A final answer is stored with any status.
func (s *server) kept(ctx huma.Context, a store.Answer, final bool) *store.Answer {
	if final {
		return &a
	}
	if a.Status >= http.StatusInternalServerError || a.Status == http.StatusTooManyRequests ||
		a.Status == http.StatusRequestTimeout {
		return nil
	}
	if ctx.Operation().Metadata[withheld] != true || a.Status >= http.StatusMultipleChoices {
		return &a
	}
	p := refusal(v1.AnswerWithheld, "this request was already served; its answer held a secret, which is not stored: "+
		"revoke what was created, and create another under a new idempotency key")
	p.TraceID = traceID(ctx.Context())
	if made := a.Header["Location"]; len(made) > 0 {
		p.Instance = made[0]
	}
	body, err := json.Marshal(p)
	if err != nil { // Encoding it cannot fail.
		return nil
	}
	return &store.Answer{Status: p.Status, Header: map[string][]string{"Content-Type": {v1.ProblemType}}, Body: body}
}

// endOnce stores an answer, or releases the key if there is none to store; with a
// new request id if the run of the old one has ended. If neither succeeds, the
// key is free when its lease expires. It fails with tool.Conflict if another
// server has taken the request over.
func (s *server) endOnce(
	ctx context.Context, key store.RequestKey, request store.Request, a *store.Answer, anew bool,
) error {
	timeout := finishTimeout
	if a == nil {
		timeout = releaseTimeout
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	var err error
	if a != nil {
		err = s.cfg.Store.FinishRequest(ctx, key, request.Fence, *a)
	} else {
		err = s.cfg.Store.ReleaseRequest(ctx, key, request.Fence, anew)
	}
	if err != nil {
		s.log.ErrorContext(ctx, "storing the answer to a request with an idempotency key failed",
			slog.String("tenant_id", string(key.Tenant)), slog.String("trace_id", traceID(ctx)), slog.Any("error", err))
	}
	return err
}

type requestKey struct{}

// serving is the state of a request with an idempotency key while it is served.
// One goroutine serves it.
type serving struct {
	id    string
	final bool // Store the answer, whatever its status: the request must not be served again.
	over  bool // The run of this id has ended: served again, the request starts another one.
}

// requestOf returns what the use cases on runs need to know of the request. Only
// a request with an idempotency key has an id.
func requestOf(ctx context.Context) runs.Request {
	request := runs.Request{TraceID: traceID(ctx)}
	if at := servingOf(ctx); at != nil {
		request.ID = at.id
	}
	return request
}

// servingOf returns the state of a request with an idempotency key, and nil for
// one without.
func servingOf(ctx context.Context) *serving {
	at, _ := ctx.Value(requestKey{}).(*serving)
	return at
}

// requestDigest returns a keyed digest that distinguishes requests by their
// meaning, not by their spelling. The HMAC key is the idempotency key, of which
// only a hash is stored. If the request holds a secret, the digest is also
// keyed with a key of the tenant, so that a reader of the digest cannot guess
// the secret by trial. After a rotation of the tenant's key, the same request
// counts as a different one.
func (s *server) requestDigest(ctx huma.Context, tenant tool.TenantID, key string) (string, error) {
	r, _ := humachi.Unwrap(ctx)
	h := hmac.New(sha256.New, []byte(key))
	spellRequest(h, r)
	sum := h.Sum(nil)
	if ctx.Operation().Metadata[confidential] == true {
		var err error
		if sum, err = s.cfg.Vault.Digest(r.Context(), tenant, sum); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum), nil
}

// spellRequest writes the canonical form of a request.
func spellRequest(h hash.Hash, r *http.Request) {
	var raw []byte
	if body, ok := r.Body.(heldBody); ok {
		raw = body.raw
		if canonical, err := tool.Canonical(raw); err == nil && len(raw) > 0 {
			raw = canonical
		}
	}
	for _, part := range [][]byte{
		[]byte(r.Method), []byte(r.URL.EscapedPath()), []byte(r.URL.Query().Encode()), []byte(r.Header.Get("If-Match")), raw,
	} {
		_, _ = fmt.Fprintf(h, "%d ", len(part)) // Hashes never fail.
		_, _ = h.Write(part)
	}
}

func validKey(key string) bool {
	return key != "" && len(key) <= maxKeyLength &&
		!slices.ContainsFunc([]byte(key), func(c byte) bool { return c < ' ' || c > '~' })
}

func writeAnswer(w http.ResponseWriter, a store.Answer) {
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // An error cannot be reported any more.
}

// recorder records a response.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

// answer returns the recorded response, with the headers that belong to it.
func (r *recorder) answer() store.Answer {
	a := store.Answer{Status: r.status, Header: map[string][]string{}, Body: r.body.Bytes()}
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	for _, name := range keptHeaders {
		if values := r.header[name]; len(values) > 0 {
			a.Header[name] = values
		}
	}
	return a
}
