// Package toolsession is the contract of tool sessions: several people submit inputs to one version of a tool, some of
// them by a link without a login, and what comes of it is joined.
//
// A link submits, and does nothing else: it approves no call, and opens no session of a tool whose calls need an
// approval. Package store implements the contract; package platform/sessions makes sessions, takes submissions, and
// serves the page of the link.
package toolsession

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// Status is the state of a session.
type Status string

// States of sessions. They are stored: never rename one.
const (
	Active    Status = "active"
	Completed Status = "completed"
	Cancelled Status = "cancelled"
)

// Statuses returns all of them.
func Statuses() []Status { return []Status{Active, Completed, Cancelled} }

// SubmissionStatus is the state of a submission.
type SubmissionStatus string

// States of submissions. They are stored: never rename one.
const (
	Running SubmissionStatus = "running"
	Done    SubmissionStatus = "completed"
	Failed  SubmissionStatus = "failed"
)

// Bounds of sessions.
const (
	MaxTitle       = 200 // Characters.
	MaxEntities    = 50
	MaxEntity      = 200      // Bytes of the id of an entity.
	MaxConfig      = 16 << 10 // Bytes.
	MaxLive        = 1000     // Sessions of a tenant that go on.
	MaxSubmissions = 1000     // Of a session.
	MaxInput       = 64 << 10 // Bytes of a submission.
	MaxOutput      = 64 << 10 // Bytes of a result; of a larger one its size is kept.
	MaxGuest       = 100      // Characters of the name that a guest gives.

	DefaultKeep = 7 * 24 * time.Hour
	MaxKeep     = 90 * 24 * time.Hour
	MinKeep     = time.Minute
)

// Session is a session of a tool.
type Session struct {
	ID     string
	Tenant tool.TenantID
	Title  string
	tool.VersionIdentity
	Status    Status
	Entities  []string        // Ids, of the tenant's own kind, of what the session is about.
	Config    json.RawMessage // An object: inputs that are the same for each submission.
	Aggregate string          // Of the version. See [ParseAggregate].
	// Permission is what the tool asked of callers when the session was made. Submissions by the link may do this,
	// and nothing else.
	Permission string

	LinkUntil *time.Time // Nil without a link.
	Linked    bool       // The link opens the session. Stores fill it.

	Submissions int // Stores fill it.
	CreatedBy   string
	ChangedBy   string
	EndedAt     *time.Time
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Check fails with tool.Invalid, and the path of the field, for a session that cannot be made.
func (s *Session) Check() error {
	switch {
	case s.Title == "" || utf8.RuneCountInString(s.Title) > MaxTitle:
		return invalid("/title", "a session has a title of at most %d characters", MaxTitle)
	case len(s.Entities) > MaxEntities:
		return invalid("/entity_ids", "a session is about at most %d entities", MaxEntities)
	case slices.ContainsFunc(s.Entities, badEntity):
		return invalid("/entity_ids", "the id of an entity has 1 to %d bytes", MaxEntity)
	case len(s.Config) > MaxConfig:
		return invalid("/config", "the configuration has more than %d bytes", MaxConfig)
	}
	if _, err := s.Fixed(); err != nil {
		return err
	}
	_, err := ParseAggregate(s.Aggregate)
	return err
}

// Fixed returns the inputs that are the same for each submission.
func (s *Session) Fixed() (map[string]json.RawMessage, error) {
	fixed := map[string]json.RawMessage{}
	if len(s.Config) == 0 {
		return fixed, nil
	}
	if !bytes.HasPrefix(bytes.TrimSpace(s.Config), []byte("{")) || json.Unmarshal(s.Config, &fixed) != nil {
		return nil, invalid("/config", "expected an object, by the names of inputs")
	}
	return fixed, nil
}

// CheckKeep fails with tool.Invalid for a time that a link cannot be good for.
func CheckKeep(keep time.Duration) error {
	if keep < MinKeep || keep > MaxKeep {
		return invalid("/expires_in_seconds", "a link is good for %d to %d seconds", int(MinKeep/time.Second),
			int(MaxKeep/time.Second))
	}
	return nil
}

// Submission is an input that was submitted, with the result of its call.
type Submission struct {
	ID        string // Also that of the run of its call.
	Tenant    tool.TenantID
	SessionID string
	Nonce     string // Of the request: it submits once. Not read.
	Subject   string
	Guest     string // The name that a person gave on the page of the link: anyone may have written it.
	ByLink    bool   // Input and guest are untrusted: anyone with the link wrote them.
	Link      []byte // The digest of the token of that link. Not read.
	Input     json.RawMessage
	Status    SubmissionStatus
	Output    json.RawMessage // The structured result, or the text.
	Error     string
	CreatedAt time.Time
	EndedAt   *time.Time
}

// Query asks for a page of sessions, newest first.
type Query struct {
	Tenant tool.TenantID
	ToolID string // Only sessions of this tool. Empty for all.
	Status Status // Empty for all.
	Before string // Id. Empty for the first page.
	Limit  int
}

// SubmissionQuery asks for a page of submissions, newest first.
type SubmissionQuery struct {
	Tenant    tool.TenantID
	SessionID string
	Status    SubmissionStatus // Empty for all.
	Before    string           // Id. Empty for the first page.
	Limit     int
}

// Store keeps sessions. Package store implements it. Those of other tenants are tool.NotFound.
type Store interface {
	// CreateToolSession fails with tool.Conflict beyond [MaxLive], and for a tool that is disabled or gone.
	CreateToolSession(ctx context.Context, s Session) (Session, error)
	FindToolSession(ctx context.Context, tenant tool.TenantID, id string) (Session, error)
	ListToolSessions(ctx context.Context, q Query) ([]Session, error)
	// EndToolSession ends a session, with its link, for good. Doing so again changes nothing; ending it otherwise
	// fails with tool.Conflict.
	EndToolSession(ctx context.Context, tenant tool.TenantID, id string, as Status, by string) (Session, error)
	// LinkToolSession gives a session a link, in the place of the one that it has. It fails with tool.Conflict for a
	// session that has ended, and with tool.Denied where the tenant does not publish.
	LinkToolSession(
		ctx context.Context, tenant tool.TenantID, id, by string, secretHash []byte, keep time.Duration,
	) (Session, error)
	// UnlinkToolSession takes the link away. Doing so again changes nothing.
	UnlinkToolSession(ctx context.Context, tenant tool.TenantID, id, by string) (Session, error)
	// OpenToolSession returns the session that the token of a link opens. It fails with tool.NotFound for an unknown
	// token, one that was replaced or revoked or has expired, and for a session that has ended or whose tool is
	// disabled or gone, or whose tenant is suspended.
	OpenToolSession(ctx context.Context, tenant tool.TenantID, id string, secretHash []byte) (Session, error)

	// AddSubmission stores a submission. Repeated says that its request had submitted before: then that is returned. It
	// fails with tool.Conflict for a session that has ended, and beyond [MaxSubmissions], and with tool.NotFound for one
	// by a link that opens the session no longer.
	AddSubmission(ctx context.Context, s Submission) (stored Submission, repeated bool, err error)
	// SettleSubmission stores how the call of a submission ended, once.
	SettleSubmission(ctx context.Context, s Submission) (Submission, error)
	FindSubmission(ctx context.Context, tenant tool.TenantID, sessionID, id string) (Submission, error)
	ListSubmissions(ctx context.Context, q SubmissionQuery) ([]Submission, error)
}

func invalid(path, format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "toolsession", Path: path, Msg: fmt.Sprintf(format, args...)}
}

func badEntity(e string) bool { return e == "" || len(e) > MaxEntity || !utf8.ValidString(e) }
