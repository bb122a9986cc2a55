package resolver

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// Step is one applied rule.
type Step struct {
	Rule   Rule   `json:"rule"`
	Passed bool   `json:"passed"`
	Saw    string `json:"saw"` // The rule's input.
}

// Explanation explains the decision on a request: every applied rule, in order, up to the rule
// that refused.
type Explanation struct {
	Ref     tool.Ref  `json:"ref"`
	Mode    tool.Mode `json:"mode"`
	Steps   []Step    `json:"steps"`
	ToolID  string    `json:"tool_id,omitempty"`
	Slug    string    `json:"slug,omitempty"`
	Version string    `json:"version,omitempty"`
	Digest  string    `json:"digest,omitempty"`
	Draft   bool      `json:"draft,omitempty"`
	Shadows bool      `json:"shadows,omitempty"`
	// ReadsDeclared records who declared that the version's POST only reads,
	// which lets it be sent under egress class read_only; nil where it is not
	// declared.
	ReadsDeclared *tool.Declaration `json:"reads_declared,omitempty"`
	Kind          tool.Kind         `json:"kind,omitempty"` // Of the refusal; empty when a version may run.
	Msg           string            `json:"msg,omitempty"`
	// Policy is the tool's current policy, by which each call is decided; zero if there
	// is no tool.
	Policy tool.Policy `json:"-"`
	// Tool is the tool that was found, whether a version of it may run or not; nil if none was. It is shared:
	// never change it.
	Tool *tool.Tool `json:"-"`
	// Overrides are the revisions of the overrides that adapt the version; see [Resolver.Adapted].
	Overrides tool.OverrideRevisions `json:"-"`
}

// Explain reports how req would be decided, refusals included. It is meant for
// administrators of tools: it may name what a refusal does not disclose, though
// never another tenant's tools. It fails only when the source does.
func (r *Resolver) Explain(ctx context.Context, req Request) (Explanation, error) {
	c, err := r.candidates(ctx, req)
	if err != nil {
		return Explanation{}, err
	}
	log := &trail{keep: true}
	s := choose(c, req, log)
	e := Explanation{Ref: req.Ref, Mode: modeOf(req), Steps: log.steps, Shadows: s.Shadows}
	if s.Tool != nil {
		e.Tool = s.Tool
		e.ToolID, e.Slug, e.Policy = s.Tool.ID, s.Tool.Slug, s.Tool.Policy
	}
	if refusal := s.Err; refusal != nil {
		e.Kind, e.Msg = refusal.Kind, refusal.Msg
	} else {
		e.Version, e.Digest, e.Draft, e.ReadsDeclared = s.Version.Number, s.Version.Digest, s.Draft, s.Version.ReadsDeclared
		e.Overrides = s.Overrides.Revisions()
	}
	return e, nil
}

// trail collects the steps of a decision, if an explanation is requested.
type trail struct {
	keep  bool
	steps []Step
}

func (l *trail) pass(rule Rule, format string, args ...any) {
	if l.keep {
		l.steps = append(l.steps, Step{Rule: rule, Passed: true, Saw: fmt.Sprintf(format, args...)})
	}
}

func (l *trail) refuse(rule Rule, kind tool.Kind, msg string) *tool.Error {
	l.fail(rule, msg)
	return &tool.Error{Kind: kind, Op: "resolver.Resolve", Msg: msg}
}

// saw replaces what the last rule saw, where a refusal discloses less.
func (l *trail) saw(text string) {
	if l.keep {
		l.steps[len(l.steps)-1].Saw = text
	}
}

// hide refuses with the message for a tool that does not exist.
func (l *trail) hide(rule Rule, req Request, saw string) *tool.Error {
	l.fail(rule, saw)
	return notFound(req.Ref)
}

func (l *trail) fail(rule Rule, saw string) {
	if l.keep {
		l.steps = append(l.steps, Step{Rule: rule, Saw: saw})
	}
}
