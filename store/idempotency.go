package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// RequestKey is a caller's idempotency key. Only its sha256 is stored.
type RequestKey struct {
	Tenant  tool.TenantID
	Subject string // The owner of the key; keys of other subjects never match.
	Text    string
}

// Request is the state of a request with an idempotency key.
type Request struct {
	// ID is the same each time the request is served, by any process, until its
	// key expires.
	ID     string
	Digest string // Of the request that has the key.
	Fence  int64  // Passed to FinishRequest.
	Taken  bool   // The caller of BeginRequest must serve it.
	// Wait is the rest of the current server's lease; zero where the request is
	// taken or answered.
	Wait   time.Duration
	Answer *Answer
}

// Answer is an HTTP response.
type Answer struct {
	Status int
	Header map[string][]string
	Body   []byte
}

// BeginRequest takes a key for a request of the given digest, to be served within
// lease and kept for keep. If the key was taken before, the returned request has the
// digest it was taken for, and an answer unless it is still being served. A request
// whose lease expired without an answer is taken by the next one of the same digest.
func (s *Store) BeginRequest(
	ctx context.Context, k RequestKey, digest string, lease, keep time.Duration,
) (Request, error) {
	const op = "store.BeginRequest"
	if err := checkLease(op, lease); err != nil {
		return Request{}, err
	}
	id, err := uuid7.New()
	if err != nil {
		return Request{}, err
	}
	var row db.BeginRequestRow
	err = s.do(ctx, op, k.Tenant, func(q *db.Queries) (err error) {
		row, err = q.BeginRequest(ctx, db.BeginRequestParams{
			TenantID: string(k.Tenant), Subject: text(k.Subject), KeyHash: k.hash(), ID: id, Digest: digest,
			LeaseS: lease.Seconds(), KeepS: keep.Seconds(),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return errRaced
		}
		return err
	})
	if err != nil {
		return Request{}, explain(err, tool.NotFound, "tenant not found")
	}
	r := Request{ID: row.ID, Digest: row.Digest, Fence: row.Fence, Taken: row.Taken}
	if row.Status == nil {
		r.Wait = time.Duration(row.WaitS * float64(time.Second))
		return r, nil
	}
	r.Answer = &Answer{Status: int(*row.Status), Body: row.Body}
	return r, decode(row.Header, &r.Answer.Header)
}

// FinishRequest stores the answer to a request under its fence. It fails with
// tool.Conflict where another process has taken the request over.
func (s *Store) FinishRequest(ctx context.Context, k RequestKey, fence int64, a Answer) error {
	header, err := encodePayload(a.Header)
	if err != nil {
		return err
	}
	return s.endRequest(ctx, "store.FinishRequest", k.Tenant, func(q *db.Queries) (int64, error) {
		return q.FinishRequest(ctx, db.FinishRequestParams{
			TenantID: string(k.Tenant), Subject: text(k.Subject), KeyHash: k.hash(), Fence: fence,
			Status: number(a.Status), Header: header, Body: a.Body,
		})
	})
}

// RenewRequest extends the lease of a request, from now. It fails like
// [Store.FinishRequest].
func (s *Store) RenewRequest(ctx context.Context, k RequestKey, fence int64, lease time.Duration) error {
	const op = "store.RenewRequest"
	if err := checkLease(op, lease); err != nil {
		return err
	}
	return s.endRequest(ctx, op, k.Tenant, func(q *db.Queries) (int64, error) {
		return q.RenewRequest(ctx, db.RenewRequestParams{
			TenantID: string(k.Tenant), Subject: text(k.Subject), KeyHash: k.hash(), Fence: fence, LeaseS: lease.Seconds(),
		})
	})
}

// ReleaseRequest ends a request without an answer, so that the next one of the same
// digest is served. Anew gives that one another id: rows made under the old id are
// not found again. It fails like [Store.FinishRequest].
func (s *Store) ReleaseRequest(ctx context.Context, k RequestKey, fence int64, anew bool) error {
	var id *string
	if anew {
		made, err := uuid7.New()
		if err != nil {
			return err
		}
		id = &made
	}
	return s.endRequest(ctx, "store.ReleaseRequest", k.Tenant, func(q *db.Queries) (int64, error) {
		return q.ReleaseRequest(ctx, db.ReleaseRequestParams{
			TenantID: string(k.Tenant), Subject: text(k.Subject), KeyHash: k.hash(), Fence: fence, NewID: id,
		})
	})
}

func (s *Store) endRequest(
	ctx context.Context, op string, tenant tool.TenantID, end func(*db.Queries) (int64, error),
) error {
	return s.do(ctx, op, tenant, func(q *db.Queries) error {
		n, err := end(q)
		if err == nil && n == 0 {
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: "another process has taken the request over"}
		}
		return err
	})
}

// sweepSize is the number of keys deleted in one transaction.
const sweepSize = 1000

// SweepRequests deletes expired keys of all tenants, and returns their number. Call
// it periodically; concurrent calls are safe.
func (s *Store) SweepRequests(ctx context.Context) (int, error) {
	for total := 0; ; {
		var gone int32
		err := s.doGlobal(ctx, "store.SweepRequests", func(q *db.Queries) (err error) {
			gone, err = q.SweepRequests(ctx, sweepSize)
			return err
		})
		total += int(gone)
		if err != nil || gone < sweepSize {
			s.sweeps.note(SweepRequestKeys, total, err)
			return total, err
		}
	}
}

func (k RequestKey) hash() []byte {
	sum := sha256.Sum256([]byte(k.Text))
	return sum[:]
}
