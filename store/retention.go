package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// RetentionClass is a class of records that are kept for the same time after their end.
type RetentionClass string

// Classes of records.
const (
	// RetainRuns is ended runs with all that belongs to them: messages, events, output,
	// calls, approvals, waits, state, files, nodes of graphs, and the effects of calls
	// that changed nothing outside.
	RetainRuns RetentionClass = "runs"
	// RetainEffects is effects of deleted runs that may have changed something outside.
	RetainEffects        RetentionClass = "effects"
	RetainDeliveries     RetentionClass = "deliveries"   // Of webhooks, that arrived.
	RetainDeadLetters    RetentionClass = "dead_letters" // Deliveries that failed for good.
	RetainScheduleStarts RetentionClass = "schedule_starts"
	RetainSpaceMessages  RetentionClass = "space_messages"
	RetainFiles          RetentionClass = "files" // Those that do not expire by themselves.
	RetainNotes          RetentionClass = "notes" // Memories of agents, and plans and goals that are done.
)

// RetentionClasses returns all classes, in the order in which they are swept.
func RetentionClasses() []RetentionClass {
	return []RetentionClass{
		RetainRuns, RetainEffects, RetainDeliveries, RetainDeadLetters, RetainScheduleStarts, RetainSpaceMessages,
		RetainFiles, RetainNotes,
	}
}

const (
	maxRetentionDays = 36500
	// minEffectDays is longer than Temporal keeps the histories of closed workflows by default.
	minEffectDays = 30
)

// RetentionRule is how long records of a class are kept.
type RetentionRule struct {
	Tenant     tool.TenantID  `json:"tenant_id,omitempty"` // Empty for the rule of all tenants without one of their own.
	TenantSlug string         `json:"tenant,omitempty"`    // Ignored when a rule is set.
	Class      RetentionClass `json:"class"`
	KeepDays   int            `json:"keep_days,omitempty"` // Zero: for ever.
}

// RetentionState is what there is of a class.
type RetentionState struct {
	Class  RetentionClass `json:"class"`
	Due    int            `json:"due"`              // Rows that the next sweep deletes.
	Oldest *time.Time     `json:"oldest,omitempty"` // When the oldest row was made; nil if there is none.
}

// RetentionRules returns the rules for all tenants, then those of single tenants.
func (p *Platform) RetentionRules(ctx context.Context) ([]RetentionRule, error) {
	var rows []db.ListRetentionRulesRow
	err := p.store.do(ctx, "store.RetentionRules", "", func(q *db.Queries) (err error) {
		rows, err = q.ListRetentionRules(ctx)
		return err
	})
	return convert(rows, func(r db.ListRetentionRulesRow) RetentionRule {
		rule := RetentionRule{Class: RetentionClass(r.Class)}
		if r.TenantID != nil {
			rule.Tenant = tool.TenantID(*r.TenantID)
		}
		if r.Slug != nil {
			rule.TenantSlug = *r.Slug
		}
		if r.KeepDays != nil {
			rule.KeepDays = int(*r.KeepDays)
		}
		return rule
	}), err
}

// SetRetentionRule stores a rule. It fails with tool.Invalid for an unknown class and for
// a time that is too short or too long, and with tool.NotFound for an unknown tenant.
func (p *Platform) SetRetentionRule(ctx context.Context, rule RetentionRule) error {
	const op = "store.SetRetentionRule"
	if err := checkRetention(op, rule); err != nil {
		return err
	}
	params := db.SetRetentionRuleParams{TenantID: optional(string(rule.Tenant)), Class: string(rule.Class)}
	if rule.KeepDays > 0 {
		days := number(rule.KeepDays)
		params.KeepDays = &days
	}
	err := p.store.do(ctx, op, "", func(q *db.Queries) error { return q.SetRetentionRule(ctx, params) })
	return explain(err, tool.NotFound, "tenant not found")
}

func checkRetention(op string, rule RetentionRule) error {
	invalid := func(format string, args ...any) error {
		return &tool.Error{Kind: tool.Invalid, Op: op, Msg: fmt.Sprintf(format, args...)}
	}
	switch {
	case rule.Tenant != "" && !tool.ValidID(string(rule.Tenant)):
		return notFound(op, "tenant not found")
	case !slices.Contains(RetentionClasses(), rule.Class):
		return invalid("%.64q is no class of records; the classes are %v", rule.Class, RetentionClasses())
	case rule.KeepDays < 0 || rule.KeepDays > maxRetentionDays:
		return invalid("records are kept for 1 to %d days, or for ever", maxRetentionDays)
	case rule.Class == RetainEffects && rule.KeepDays > 0 && rule.KeepDays < minEffectDays:
		return invalid("effects are kept for at least %d days: a workflow that is reset within that time would repeat them",
			minEffectDays)
	}
	return nil
}

// DropRetentionRule removes a tenant's own rule. It fails with tool.NotFound where there
// is none.
func (p *Platform) DropRetentionRule(ctx context.Context, tenant tool.TenantID, class RetentionClass) error {
	const op = "store.DropRetentionRule"
	if !tool.ValidID(string(tenant)) {
		return notFound(op, "tenant not found")
	}
	return p.store.do(ctx, op, "", func(q *db.Queries) error {
		n, err := q.DropRetentionRule(ctx, db.DropRetentionRuleParams{
			TenantID: optional(string(tenant)), Class: string(class),
		})
		if err == nil && n == 0 {
			return notFound(op, "the tenant has no rule of its own for this class")
		}
		return err
	})
}

// RetentionState returns what there is of each class, of a tenant or of all, with the number
// of due rows. It reads every row that is due.
func (p *Platform) RetentionState(ctx context.Context, tenant tool.TenantID) ([]RetentionState, error) {
	return p.store.retentionState(ctx, tenant, true)
}

func (s *Store) retentionState(ctx context.Context, tenant tool.TenantID, counting bool) ([]RetentionState, error) {
	const op = "store.RetentionState"
	if err := checkIDs(op, string(tenant)); err != nil {
		return nil, err
	}
	var raw json.RawMessage
	err := s.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		raw, err = q.RetentionState(ctx, db.RetentionStateParams{TenantID: optional(string(tenant)), Counting: counting})
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []RetentionState
	return out, decode(raw, &out)
}

// RetentionSweep is how a sweep works; the zero value sweeps everything that is due.
type RetentionSweep struct {
	Classes []RetentionClass // All if empty.
	Batch   int              // Rows of a transaction; 200 by default.
	Pause   time.Duration    // Between transactions; 100 ms by default, negative for none.
}

// Swept is what a sweep did to a class.
type Swept struct {
	Class   RetentionClass `json:"class"`
	Removed int            `json:"removed"`
	Busy    bool           `json:"busy,omitempty"` // Another process sweeps the class; it was left to it.
}

// sweepTenants is the number of tenants that a transaction looks at.
const sweepTenants = 500

// SweepRetention deletes the records of all tenants that are kept no longer, in batches that
// commit by themselves, so that it may be interrupted. Concurrent calls do not wait for each
// other: each class is swept by one at a time. What is open, or needed by something open, is
// never deleted. The result has a row for each class that was reached, also beside an error;
// a class that fails does not keep the others from being swept.
func (s *Store) SweepRetention(ctx context.Context, how RetentionSweep) ([]Swept, error) {
	if len(how.Classes) == 0 {
		how.Classes = RetentionClasses()
	}
	if how.Batch <= 0 {
		how.Batch = purgeBatch
	}
	if how.Pause == 0 {
		how.Pause = 100 * time.Millisecond
	}
	var out []Swept
	var errs []error
	for _, class := range how.Classes {
		swept, err := s.sweepClass(ctx, class, how)
		s.sweeps.note(string(class), swept.Removed, err)
		out, errs = append(out, swept), append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return out, errors.Join(errs...)
}

// SweepRetention is [Store.SweepRetention].
func (p *Platform) SweepRetention(ctx context.Context, how RetentionSweep) ([]Swept, error) {
	return p.store.SweepRetention(ctx, how)
}

func (s *Store) sweepClass(ctx context.Context, class RetentionClass, how RetentionSweep) (Swept, error) {
	swept, after := Swept{Class: class}, nilID
	for {
		var raw json.RawMessage
		err := s.doGlobal(ctx, "store.SweepRetention", func(q *db.Queries) (err error) {
			raw, err = q.SweepRetention(ctx, db.SweepRetentionParams{
				Class: string(class), AfterTenant: after, Most: number(how.Batch), TenantsAtOnce: sweepTenants,
			})
			return err
		})
		if err != nil {
			return swept, fmt.Errorf("sweeping %s: %w", class, err)
		}
		var batch struct {
			Busy, More bool
			Removed    int
			After      string
		}
		if err := decode(raw, &batch); err != nil {
			return swept, err
		}
		swept.Removed += batch.Removed
		swept.Busy = batch.Busy
		if !batch.More {
			if swept.Removed > 0 {
				s.log.InfoContext(ctx, "expired records deleted", slog.String("class", string(class)),
					slog.Int("removed", swept.Removed))
			}
			return swept, nil
		}
		s.log.DebugContext(ctx, "expired records are being deleted", slog.String("class", string(class)),
			slog.Int("removed", swept.Removed))
		after = batch.After
		if err := rest(ctx, how.Pause); err != nil {
			return swept, err
		}
	}
}

// rest waits between two transactions.
func rest(ctx context.Context, pause time.Duration) error {
	if pause <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// DropEmptyPartitions drops the partitions of calls whose months are long over and whose rows
// are all deleted, and returns how many. It never waits long for a lock: a busy partition is
// left to a later call.
func (s *Store) DropEmptyPartitions(ctx context.Context) (int, error) {
	var dropped int32
	err := s.doGlobal(ctx, "store.DropEmptyPartitions", func(q *db.Queries) (err error) {
		dropped, err = q.DropEmptyPartitions(ctx)
		return err
	})
	s.sweeps.note(SweepPartitions, int(dropped), err)
	return int(dropped), err
}
