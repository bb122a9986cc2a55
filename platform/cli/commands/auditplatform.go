package commands

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/audit"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// auditSource is an audit log that commands read: that of the key's tenant, by the API, or that of
// the platform, by the database.
type auditSource interface {
	ListAudit(ctx context.Context, q client.AuditQuery) (v1.Page[v1.AuditEntry], error)
	Audit(ctx context.Context, id string) (v1.AuditEntry, error)
	VerifyAudit(ctx context.Context, from audit.Head) (v1.AuditReport, error)
	ExportAudit(ctx context.Context, after int64, each func(v1.AuditRecord) error) error
}

var (
	_ auditSource = (*client.Client)(nil)
	_ auditSource = platformAudit{}
)

// auditScope is whose log a command reads.
type auditScope struct {
	platform bool
	database string
}

func (o *auditScope) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.platform, "platform", false,
		"the platform's own log: what operators changed for all tenants; needs the database's URL, not a key")
	cli.DatabaseFlag(cmd, &o.database)
}

// run returns a command's function that calls do with the log.
func (o *auditScope) run(
	a *app, do func(cmd *cobra.Command, log auditSource, args []string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return o.with(cmd.Context(), a, func(log auditSource) error { return do(cmd, log, args) })
	}
}

func (o *auditScope) with(ctx context.Context, a *app, do func(auditSource) error) error {
	if !o.platform {
		c, err := a.Connect()
		if err != nil {
			return err
		}
		defer c.Close()
		return do(c)
	}
	url, err := a.DatabaseURL(o.database)
	if err != nil {
		return err
	}
	owner, err := store.OpenPlatform(ctx, url, store.Options{Logger: a.Logger(), MaxConns: 1})
	if err != nil {
		return err
	}
	defer owner.Close()
	return do(platformAudit{owner.Audit()})
}

// platformAudit reads the platform's log from the database.
type platformAudit struct{ log audit.Log }

// platformPage bounds the rows that are read at a time.
const platformPage = 100

func (p platformAudit) ListAudit(ctx context.Context, q client.AuditQuery) (v1.Page[v1.AuditEntry], error) {
	before, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err != nil || len(before) > 0 && !tool.ValidID(string(before)) {
		return v1.Page[v1.AuditEntry]{}, cli.Usagef("--cursor %q is none: use that of the page before", q.Cursor)
	}
	if q.Action != "" && !slices.Contains(strings.Fields(actionWords()), q.Action) {
		return v1.Page[v1.AuditEntry]{}, cli.Usagef("there is no action %q: \"toolcrib audit actions\" lists them", q.Action)
	}
	limit := min(q.Limit, platformPage)
	asked := audit.Query{
		Actor: q.Actor, Action: q.Action, Object: q.Object, Outcome: q.Outcome, Before: string(before), Limit: limit + 1,
	}
	if !q.Since.IsZero() {
		asked.Since = &q.Since
	}
	if !q.Until.IsZero() {
		asked.Until = &q.Until
	}
	rows, err := p.log.ListAudit(ctx, "", asked)
	if err != nil {
		return v1.Page[v1.AuditEntry]{}, err
	}
	var out v1.Page[v1.AuditEntry]
	if len(rows) > limit {
		rows = rows[:limit]
		out.Next = base64.RawURLEncoding.EncodeToString([]byte(rows[limit-1].ID))
	}
	out.Items = each(rows, v1.FromAudit)
	return out, nil
}

func (p platformAudit) Audit(ctx context.Context, id string) (v1.AuditEntry, error) {
	found, err := p.log.FindAudit(ctx, "", id)
	return v1.FromAudit(found), err
}

func (p platformAudit) VerifyAudit(ctx context.Context, from audit.Head) (v1.AuditReport, error) {
	const all = 1 << 62
	report, err := audit.Verify(ctx, p.log, "", from, all)
	return v1.FromAuditReport(report), err
}

func (p platformAudit) ExportAudit(ctx context.Context, after int64, each func(v1.AuditRecord) error) error {
	for {
		rows, err := p.log.AuditChain(ctx, "", after, platformPage)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			if err := each(v1.RecordOf(row)); err != nil {
				return err
			}
		}
		after = rows[len(rows)-1].Seq
	}
}
