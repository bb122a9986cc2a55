package summary

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// MinSources is how many entities an engagement needs for a summary.
const MinSources = 3

// Code names why a summary is refused.
type Code string

// The refusals.
const (
	BundleNotInstalled Code = "bundle_not_installed"
	EngagementNotFound Code = "engagement_not_found"
	ForeignEngagement  Code = "idor_violation"
	ForeignWorkspace   Code = "workspace_violation"
	InsufficientGraph  Code = "insufficient_graph"
)

// Input is what the thin tool is called with.
type Input struct {
	EngagementID string `json:"engagement_id" jsonschema:"id of the engagement, such as ENG-1"`
}

// Answer is what it answers: a record and its link, or a refusal.
type Answer struct {
	EntityID    string   `json:"entity_id"`
	BriefURL    string   `json:"brief_url" jsonschema:"where the summary is; it is filled within a minute"`
	SourceCount int      `json:"source_entity_count"`
	Error       *Refusal `json:"error"`
}

// Refusal is why there is no summary.
type Refusal struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// ExecuteContext is what the tool knows beside its input.
type ExecuteContext struct {
	Principal tool.Principal
	EffectID  string // The same for all attempts of a call.
	Records   *Records
	Site      string                               // Where summaries are read, such as "http://127.0.0.1:8790".
	Fill      func(context.Context, Summary) error // Begins to fill a summary; once, however often it is called.
}

// Generate is the thin tool: it checks, creates one record, has it filled, and answers. It fails
// only where the record can't be kept or the graph not begun; then it may be repeated.
func Generate(ctx context.Context, x ExecuteContext, in Input) (Answer, error) {
	e, refusal := x.check(in)
	if refusal != nil {
		return Answer{SourceCount: len(e.Entities), Error: refusal}, nil
	}
	sum := sha256.Sum256([]byte("summary\x00" + x.EffectID))
	s := Summary{
		ID: "sum-" + hex.EncodeToString(sum[:10]), Tenant: x.Principal.Tenant, Engagement: e.ID,
		Settings: x.Records.Tenant(x.Principal.Tenant).Settings,
		Status:   Filling, Fields: map[string][]Claim{}, CreatedAt: time.Now().UTC(),
	}
	if err := x.Records.Create(s); err != nil {
		return Answer{}, &tool.Error{Kind: tool.Unavailable, Op: "summary.Generate", Msg: "keeping the record", Err: err}
	}
	if err := x.Fill(ctx, s); err != nil {
		return Answer{}, &tool.Error{Kind: tool.Unavailable, Op: "summary.Generate", Msg: "beginning to fill it", Err: err}
	}
	return Answer{EntityID: s.ID, BriefURL: x.Site + "/summaries/" + s.ID, SourceCount: len(e.Entities)}, nil
}

// check returns the engagement, or why there is no summary of it. What another tenant has is not
// shown with the refusal.
func (x ExecuteContext) check(in Input) (Engagement, *Refusal) {
	t := x.Records.Tenant(x.Principal.Tenant)
	if !slices.Contains(t.Bundles, Bundle) {
		return Engagement{}, &Refusal{BundleNotInstalled, "the bundle " + Bundle + " is not installed"}
	}
	e, ok := x.Records.Engagement(in.EngagementID)
	switch {
	case !ok:
		return Engagement{}, &Refusal{EngagementNotFound, fmt.Sprintf("there is no engagement %q", in.EngagementID)}
	case e.Tenant != x.Principal.Tenant:
		return Engagement{}, &Refusal{ForeignEngagement, "the engagement belongs to another tenant"}
	case !t.visible(x.Principal.Subject, e.Workspace):
		return Engagement{}, &Refusal{ForeignWorkspace, x.Principal.Subject + " is not in the workspace of the engagement"}
	case len(e.Entities) < MinSources:
		return e, &Refusal{InsufficientGraph, fmt.Sprintf("the engagement has %d connected entities, and needs %d",
			len(e.Entities), MinSources)}
	}
	return e, nil
}
