package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/quota"
)

// Quota is how much a tenant may have of what it makes and keeps, and how much it has.
type Quota struct {
	Name      string     `json:"name" enum:"tools,agents,documents,storage_bytes,artifacts,artifact_bytes,runs,idempotency_keys"`
	Counts    string     `json:"counts" doc:"What is counted" example:"agents, in any status"`
	Limit     *int64     `json:"limit,omitempty" doc:"Absent for no limit" example:"50"`
	Used      int64      `json:"used" example:"12"`
	Origin    string     `json:"origin" enum:"tenant,platform,servers,none" doc:"Set for the tenant, or for every tenant without a quota of its own; a setting of the servers; or not at all"`
	ChangedBy string     `json:"changed_by,omitempty"`
	ChangedAt *time.Time `json:"changed_at,omitempty"`
}

// QuotaUse is a quota that is used up.
type QuotaUse struct {
	Name  string `json:"name" example:"tools"`
	Limit int64  `json:"limit" example:"50"`
	Used  int64  `json:"used" doc:"Without what was refused" example:"50"`
}

// FromQuota returns a quota as the API shows it.
func FromQuota(q quota.Quota) Quota {
	out := Quota{
		Name: string(q.Name), Limit: q.Limit, Used: q.Used, Origin: string(q.Origin), ChangedBy: q.ChangedBy,
	}
	if info, err := quota.Find(string(q.Name)); err == nil {
		out.Counts = info.Counts
	}
	if !q.ChangedAt.IsZero() {
		out.ChangedAt = &q.ChangedAt
	}
	return out
}
