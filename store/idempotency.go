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

// RequestKey is what a caller named a request by. Only its sha256 is kept.
type RequestKey struct {
	Tenant  tool.TenantID
	Subject string // The owner of the key: it matches no request of another subject.
	Text    string
}

// Request is how a request stands that its caller named.
type Request struct {
	// ID is the same each time the request is served, by whomever, until its
	// key's time is over.
	ID     string
	Digest string // Of the request that has the key.
	Fence  int64  // To be given when the request is finished.
	Taken  bool   // The caller of BeginRequest is to serve it.
	// Wait is how long its current server may hold it at most without renewing
	// its lease; zero where it is taken or answered.
	Wait   time.Duration
	Answer *Answer
}

// Answer is an answer of HTTP.
type Answer struct {
	Status int
	Header map[string][]string
	Body   []byte
}

// BeginRequest takes a key for a request of the given digest, to be served
// within lease and remembered for keep. Where the key was taken before, the
// returned request has the digest it was taken for, and an answer unless it is
// still being served. A request that was not answered within its lease is taken
// by the next one of the same digest.
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

// FinishRequest stores the answer to a request that was taken under fence. It
// fails with tool.Conflict where another process has taken the request over.
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

// RenewRequest extends the lease of a request that is being served, from now
// on. It fails as [Store.FinishRequest] does.
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

// ReleaseRequest lets the next request of the same digest be served: this one
// has no answer to keep. Anew gives the request another id, for one that is
// over: what was made under the id it had is not found again. It fails as
// [Store.FinishRequest] does.
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
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: "the request is not being served under this fence"}
		}
		return err
	})
}

// sweepSize is how many keys are deleted in one transaction.
const sweepSize = 1000

// SweepRequests deletes the requests whose keys' time is over, in all tenants,
// and returns how many. Call it now and then, from as many processes as there
// are.
func (s *Store) SweepRequests(ctx context.Context) (int, error) {
	for total := 0; ; {
		var gone int32
		err := s.doGlobal(ctx, "store.SweepRequests", func(q *db.Queries) (err error) {
			gone, err = q.SweepRequests(ctx, sweepSize)
			return err
		})
		total += int(gone)
		if err != nil || gone < sweepSize {
			return total, err
		}
	}
}

func (k RequestKey) hash() []byte {
	sum := sha256.Sum256([]byte(k.Text))
	return sum[:]
}
