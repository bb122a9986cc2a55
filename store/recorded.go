package store

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
)

// recordRow is the answer of the statement.
type recordRow struct {
	Ended    int              `json:"ended"`
	Turn     bool             `json:"turn"`
	Tickets  []recordTicket   `json:"tickets"`
	Opened   bool             `json:"opened"`
	Over     bool             `json:"over"`
	Policies json.RawMessage  `json:"policies"`
	Followed bool             `json:"followed"`
	Cancel   string           `json:"cancel"`
	Pause    agent.PauseRound `json:"pause_round"`
	Budgeted bool             `json:"budgeted"`
	Inbox    int              `json:"inbox"`
	Taint    json.RawMessage  `json:"taint"`
	At       time.Time        `json:"at"`
}

type recordPolicy struct {
	EgressClass        string          `json:"egress_class"`
	EgressRules        json.RawMessage `json:"egress_rules"`
	RequiresApproval   bool            `json:"requires_approval"`
	PermissionPolicy   string          `json:"permission_policy"`
	RequiredPermission string          `json:"required_permission"`
	TenantSlugs        []string        `json:"tenant_slugs"`
	Profiles           json.RawMessage `json:"profiles"`
}

type recordTicket struct {
	recordPolicy

	EffectID string `json:"effect_id"`
}

func (p *recordPolicy) policy(slugs []string) (tool.Policy, error) {
	out, err := policyOf(p.EgressClass, p.EgressRules, p.RequiresApproval, p.PermissionPolicy, p.RequiredPermission, slugs)
	if err == nil {
		out.Profiles, err = usesOf(p.Profiles)
	}
	return out, err
}

// recorded converts the answer, and keeps what it adds to the transcript.
func (s *Store) recorded(r loop.Record, p *recordParams, row *recordRow) (loop.Recorded, error) {
	out := loop.Recorded{Ended: row.Ended, Turn: row.Turn, End: row.Over, Tickets: make([]*ledger.Ticket, len(r.Begin))}
	for _, t := range row.Tickets {
		i := slices.IndexFunc(r.Begin, func(req ledger.AdmitRequest) bool { return text(req.EffectID) == t.EffectID })
		policy, err := t.policy(t.TenantSlugs)
		if err != nil {
			return out, err
		}
		out.Tickets[i] = &ledger.Ticket{
			InvocationID: r.Begin[i].InvocationID, Fence: 1, Attempt: 1, Policy: policy, Followed: row.Followed,
			Arguments: r.Begin[i].Arguments,
		}
	}
	key := transcriptKey{r.Tenant, r.RunID}
	if row.Turn {
		p.turn.CreatedAt = row.At
		s.transcripts.answer(key, *p.turn, len(r.Turn.Calls))
	}
	for _, m := range p.answers[:row.Ended] {
		m.CreatedAt = row.At
		s.transcripts.result(key, m)
	}
	if !row.Opened {
		return out, nil
	}
	return out, s.open(key, r.Ask.Head, p.kept, row, &out)
}

// open continues the transcript with the turn that the record ends.
func (s *Store) open(key transcriptKey, head string, kept *keptTranscript, row *recordRow, out *loop.Recorded) error {
	now, known := s.transcripts.find(key)
	if !known || !now.answeredWith(nil, head) {
		return nil // It was dropped meanwhile.
	}
	policies, err := s.authority(row.Policies)
	if err != nil {
		return err
	}
	run, messages := kept.run, now.messages.with(now.next.messages())
	run.CancelExecution, run.PauseRound = row.Cancel, row.Pause
	if run.Taint, err = taintOf(row.Taint); err != nil {
		return err
	}
	var taint *tool.Taint
	if run.Taint != nil {
		taint = ruled(run.Taint, string(run.Taint.Rule))
		run.Taint.Rule = ""
	}
	out.Open = &agent.OpenTurn{
		Run: run, Policies: policies, Transcript: messages.view(), Followed: row.Followed, Inbox: row.Inbox,
		Budgeted: row.Budgeted, Taint: taint,
	}
	s.transcripts.keep(key, run, head, messages, int(now.bytes)+now.next.bytes())
	return nil
}

// authority converts the policies of a question.
func (s *Store) authority(raw json.RawMessage) (map[string]tool.Policy, error) {
	var rows []struct {
		recordPolicy

		ID       string  `json:"id"`
		TenantID *string `json:"tenant_id"`
	}
	if err := decode(raw, &rows); err != nil {
		return nil, err
	}
	policies := make(map[string]tool.Policy, len(rows))
	for i := range rows {
		policy, err := rows[i].policy(s.audience(rows[i].TenantID, rows[i].TenantSlugs))
		if err != nil {
			return nil, err
		}
		policies[rows[i].ID] = policy
	}
	return policies, nil
}
