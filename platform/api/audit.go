package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolcrib/toolcrib/audit"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of one request about the chain; the next one goes on behind it.
const (
	auditVerifyRows  = 20_000
	auditExportRows  = 5_000
	auditExportBytes = 8 << 20
	auditExportPage  = 200
	auditPageBytes   = 1 << 20
)

type listAuditInput struct {
	Paging
	Actor   string    `query:"actor" maxLength:"400" doc:"Subject" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	Action  string    `query:"action" maxLength:"64" doc:"An action, or a kind of object for all of its actions" example:"tool.published"`
	Object  string    `query:"object" maxLength:"400" doc:"Id or name" example:"getOrder"`
	Outcome string    `query:"outcome" enum:"done,refused"`
	Since   time.Time `query:"since" doc:"At or after"`
	Until   time.Time `query:"until" doc:"Before"`
}

type auditInput struct {
	ID string `path:"entry" maxLength:"64"`
}

type verifyAuditInput struct {
	AfterSeq  int64  `query:"after_seq" minimum:"0" doc:"Verify what is behind this row, which was verified before"`
	AfterHash string `query:"after_hash" pattern:"^([0-9a-f]{64})?$" doc:"Hash of that row; required with after_seq"`
}

type exportAuditInput struct {
	AfterSeq int64 `query:"after_seq" minimum:"0" doc:"Export what is behind this row"`
}

// ndjson is the media type of an export: JSON, a value on each line.
const ndjson = "application/x-ndjson"

type exportAuditOutput struct {
	ContentType string `header:"Content-Type"`
	Body        func(huma.Context)
}

func (s *server) registerAudit() {
	handle(s, route{
		id: "listAudit", method: http.MethodGet, path: "/v1/audit", tag: "audit", permission: AuditRead,
		summary: "List what was changed, or refused, newest first",
		detail: fmt.Sprintf("A page has fewer rows than asked for where before and after in them have more than %d MiB: "+
			"go on with its cursor.", auditPageBytes>>20),
	}, s.listAudit)
	handle(s, route{
		id: "verifyAudit", method: http.MethodGet, path: "/v1/audit/verify", tag: "audit", permission: AuditRead,
		summary: "Verify the chain of the audit log",
		detail: fmt.Sprintf("At most %d rows at a time: while complete is false, verify again after seq and hash. A head "+
			"that was kept elsewhere shows that the chain is still the one that had it.", auditVerifyRows),
	}, s.verifyAudit)
	handle(s, route{
		id: "exportAudit", method: http.MethodGet, path: "/v1/audit/export", tag: "audit", permission: AuditRead,
		summary: "Export sealed rows, in the order of the chain",
		detail: fmt.Sprintf("JSON, a row on each line, with all that its hash is made of. At most %d rows: export again "+
			"after the seq of the last line, until there is none.", auditExportRows),
	}, s.exportAudit)
	s.api.OpenAPI().Paths["/v1/audit/export"].Get.Responses["200"].Content = map[string]*huma.MediaType{ndjson: {}}
	handle(s, route{
		id: "getAudit", method: http.MethodGet, path: "/v1/audit/{entry}", tag: "audit", permission: AuditRead,
		summary: "Get a row of the audit log",
	}, s.getAudit)
}

func (s *server) listAudit(ctx context.Context, p tool.Principal, in *listAuditInput) (*listed[v1.AuditEntry], error) {
	before, err := in.before()
	if err != nil {
		return nil, err
	}
	if !knownAction(in.Action) {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.listAudit", Path: "action",
			Msg: fmt.Sprintf("there is no action %q: \"toolcrib audit actions\" lists them", in.Action),
		}
	}
	q := audit.Query{
		Actor: in.Actor, Action: in.Action, Object: in.Object, Outcome: audit.Outcome(in.Outcome), Before: before,
		Limit: in.fetch(), Bytes: auditPageBytes,
	}
	if !in.Since.IsZero() {
		q.Since = &in.Since
	}
	if !in.Until.IsZero() {
		q.Until = &in.Until
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListAudit(ctx, p.Tenant, q)
	if err != nil {
		return nil, err
	}
	place := func(e audit.Entry) string { return e.ID }
	out := page(in.Paging, found, shown.auditEntry, place)
	if within := audit.Within(found, auditPageBytes); len(within) < len(out.Items) {
		out.Items, out.Next = out.Items[:len(within)], sealCursor(place(within[len(within)-1]))
	}
	return answer(out), nil
}

func knownAction(name string) bool {
	return name == "" || slices.ContainsFunc(audit.Actions(), func(a audit.ActionInfo) bool {
		return string(a.Action) == name || a.Action.Kind() == name
	})
}

func (s *server) getAudit(ctx context.Context, p tool.Principal, in *auditInput) (*body[v1.AuditEntry], error) {
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.FindAudit(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(shown.auditEntry(found)), nil
}

func (s *server) verifyAudit(
	ctx context.Context, p tool.Principal, in *verifyAuditInput,
) (*body[v1.AuditReport], error) {
	if (in.AfterSeq > 0) != (in.AfterHash != "") {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.verifyAudit", Path: "after_hash", Msg: "after_seq and after_hash go together",
		}
	}
	from := audit.Head{Seq: in.AfterSeq, Hash: in.AfterHash}
	report, err := audit.Verify(ctx, s.cfg.Store, p.Tenant, from, auditVerifyRows)
	if err != nil {
		return nil, fmt.Errorf("verifying the audit log: %w", err)
	}
	return answer(v1.FromAuditReport(report)), nil
}

// exportAudit reads the first rows before it answers, so that a failure is a problem. One
// that comes later ends the export behind a whole line, and the next request goes on.
func (s *server) exportAudit(ctx context.Context, p tool.Principal, in *exportAuditInput) (*exportAuditOutput, error) {
	rows, err := s.cfg.Store.AuditChain(ctx, p.Tenant, in.AfterSeq, auditExportPage)
	if err != nil {
		return nil, err
	}
	//nolint:contextcheck // The answer is written with the context of the request.
	return &exportAuditOutput{ContentType: ndjson, Body: func(ctx huma.Context) {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		for left, room := auditExportRows, auditExportBytes; len(rows) > 0 && left > 0 && room > 0; {
			left -= len(rows)
			for _, e := range rows {
				if enc.Encode(v1.RecordOf(e)) != nil {
					return
				}
			}
			room -= buf.Len()
			if _, err := buf.WriteTo(ctx.BodyWriter()); err != nil {
				return
			}
			next, err := s.cfg.Store.AuditChain(ctx.Context(), p.Tenant, rows[len(rows)-1].Seq, auditExportPage)
			if err != nil {
				return
			}
			rows = next
		}
	}}, nil
}
