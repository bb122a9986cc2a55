package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/tool"
)

// AuditActor is who changed something.
type AuditActor struct {
	Kind    string `json:"kind" enum:"key,token,user,cli,system,database" doc:"database is a login that changed the database past the platform" example:"key"`
	Subject string `json:"subject" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	KeyID   string `json:"key_id,omitempty" example:"01975c2e-7d1a-7c3e-9f00-0000000000d1"`
}

// AuditObject is what a change is about.
type AuditObject struct {
	Kind string `json:"kind" example:"tool"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty" doc:"As it was called at the time" example:"getOrder"`
}

// AuditEntry is a row of the audit log.
type AuditEntry struct {
	ID        string          `json:"id"`
	At        time.Time       `json:"at"`
	Actor     AuditActor      `json:"actor"`
	Action    string          `json:"action" example:"tool.published"`
	Object    AuditObject     `json:"object"`
	RequestID string          `json:"request_id,omitempty" doc:"X-Request-Id of the request's answer" example:"4bf92f3577b34da6a3ce929d0e0e4736"`
	Outcome   string          `json:"outcome" enum:"done,refused" example:"done"`
	Reason    string          `json:"reason,omitempty" doc:"Why it was refused"`
	Before    json.RawMessage `json:"before,omitempty" doc:"The columns that changed, as they were; secret ones are not shown"`
	After     json.RawMessage `json:"after,omitempty" doc:"The columns that changed, as they are since"`
	Seq       int64           `json:"seq,omitempty" doc:"Place in the chain; absent until it is sealed, about a second later" example:"17"`
	Hash      string          `json:"hash,omitempty" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	SealedAt  *time.Time      `json:"sealed_at,omitempty"`
}

// AuditRecord is a row as exports have it: with everything that its hash is made of, so that
// the chain is verified without the server.
type AuditRecord struct {
	Tenant tool.TenantID `json:"tenant_id"`
	AuditEntry
	// BeforeText and AfterText are the texts that the hash is made of, byte by byte.
	BeforeText string `json:"before_text,omitempty"`
	AfterText  string `json:"after_text,omitempty"`
}

// AuditBreak is where a chain is broken.
type AuditBreak struct {
	Seq    int64  `json:"seq" doc:"Number of the first row that is not as it was sealed, or is missing" example:"17"`
	ID     string `json:"id,omitempty" doc:"Absent where the row is missing"`
	Reason string `json:"reason" example:"the row is missing: behind 16 comes 18"`
}

// AuditReport is what a verification of the chain found.
type AuditReport struct {
	Seq      int64       `json:"seq" doc:"The last row that was found whole" example:"1204"`
	Hash     string      `json:"hash,omitempty" doc:"Its hash: keep both elsewhere, to verify from there later" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Complete bool        `json:"complete" doc:"False where the chain goes on: verify again after seq and hash" example:"true"`
	Broken   *AuditBreak `json:"broken,omitempty" doc:"Absent where nothing is wrong"`
	Unsealed int         `json:"unsealed" doc:"Rows that are not part of the chain yet" example:"0"`
	Oldest   *time.Time  `json:"unsealed_since,omitempty" doc:"When the first of them was written"`
}

// FromAudit converts a row.
func FromAudit(e audit.Entry) AuditEntry {
	out := AuditEntry{
		ID: e.ID, At: e.At.UTC(), Action: string(e.Action), RequestID: e.Actor.RequestID, Outcome: string(e.Outcome),
		Actor:  AuditActor{Kind: string(e.Actor.Kind), Subject: e.Actor.Subject, KeyID: e.Actor.KeyID},
		Object: AuditObject{Kind: e.Object.Kind, ID: e.Object.ID, Name: e.Object.Name},
		Reason: e.Reason, Before: e.Before, After: e.After, Seq: e.Seq, Hash: e.Hash,
	}
	if e.Seq > 0 {
		out.SealedAt = new(e.SealedAt.UTC())
	}
	return out
}

// RecordOf converts a sealed row for exports.
func RecordOf(e audit.Entry) AuditRecord {
	out := AuditRecord{
		Tenant: e.Tenant, AuditEntry: FromAudit(e), BeforeText: string(e.Before), AfterText: string(e.After),
	}
	out.Before, out.After = nil, nil
	return out
}

// Entry converts it back.
func (r AuditRecord) Entry() audit.Entry {
	e := audit.Entry{
		Tenant: r.Tenant, ID: r.ID, At: r.At, Action: audit.Action(r.Action), Outcome: audit.Outcome(r.Outcome),
		Actor: audit.Actor{
			Kind: audit.Kind(r.Actor.Kind), Subject: r.Actor.Subject, KeyID: r.Actor.KeyID, RequestID: r.RequestID,
		},
		Object: audit.Object{Kind: r.Object.Kind, ID: r.Object.ID, Name: r.Object.Name}, Reason: r.Reason,
		Before: json.RawMessage(r.BeforeText), After: json.RawMessage(r.AfterText), Seq: r.Seq, Hash: r.Hash,
	}
	if r.SealedAt != nil {
		e.SealedAt = *r.SealedAt
	}
	return e
}

// FromAuditReport converts a report.
func FromAuditReport(r audit.Report) AuditReport {
	out := AuditReport{
		Seq: r.Verified.Seq, Hash: r.Verified.Hash, Complete: r.Complete, Unsealed: r.Unsealed, Oldest: r.Oldest,
	}
	if r.Broken != nil {
		out.Broken = &AuditBreak{Seq: r.Broken.Seq, ID: r.Broken.ID, Reason: r.Broken.Reason}
	}
	return out
}
