package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// steps returns the account of the call: first what was settled when it was made, then what
// happened, by time, then how it stands.
func (r *callRecord) steps() []v1.CallStep {
	out := []v1.CallStep{
		{Stage: v1.StageResolve, Detail: r.resolved()},
		{Stage: v1.StageCoerce, Detail: r.arguments()},
	}
	if lane := r.lane(); lane != "" {
		out = append(out, v1.CallStep{Stage: v1.StageLane, Detail: lane})
	}
	out = append(out, v1.CallStep{Stage: v1.StagePolicy, Detail: r.policy()})
	happened := r.decisions()
	for i := range r.events {
		if step, ok := r.happened(&r.events[i]); ok {
			happened = append(happened, step)
		}
	}
	slices.SortStableFunc(happened, func(a, b v1.CallStep) int {
		return cmp.Or(a.At.Compare(*b.At), cmp.Compare(order[a.Stage], order[b.Stage]))
	})
	out = append(out, happened...)
	if r.effect != nil {
		out = append(out, v1.CallStep{Stage: v1.StageEffect, Detail: r.recorded()})
	}
	return append(out, r.stands())
}

// order is that of steps with the same time: those of one transaction.
var order = map[v1.CallStage]int{v1.StageWarning: 1, v1.StageApproval: 2, v1.StageOutside: 3, v1.StageAttempt: 4}

func (r *callRecord) resolved() string {
	named := r.call.Slug
	if r.call.Version != "" {
		named += "@" + r.call.Version
	}
	pin := r.pin()
	var out strings.Builder
	switch {
	case r.call.ToolID == "":
		return fmt.Sprintf("%q is not a tool of this run", r.call.Slug)
	case r.call.ParentID != "":
		fmt.Fprintf(&out, "%s is a step of invocation %s, whose version pins it", named, r.call.ParentID)
	case pin != nil && r.run.AgentVersion != "":
		fmt.Fprintf(&out, "%s was pinned for %s@%s when the run began", named, r.run.Agent, r.run.AgentVersion)
	case pin != nil:
		fmt.Fprintf(&out, "%s was pinned when the run began", named)
	default:
		fmt.Fprintf(&out, "%s was resolved for this call", named)
	}
	if r.ref != "" {
		fmt.Fprintf(&out, "; the agent's reference is %s", r.ref)
	}
	if pin != nil && pin.AskedAs != "" {
		fmt.Fprintf(&out, "; %s is an alias or a former name", pin.AskedAs)
	}
	if pin != nil && pin.Deprecated {
		out.WriteString("; the version was deprecated by then")
	}
	return out.String()
}

// arguments says what became of the arguments before the call: a person may have approved others.
func (r *callRecord) arguments() string {
	out := coerced(r.call.Receipt)
	edited := func(d wait.Decision) bool { return len(d.Edited) > 0 }
	if r.approval != nil && slices.ContainsFunc(r.approval.Decisions, edited) {
		out += " when they came; a person approved others, which are in the request for the approval"
	}
	return out
}

func coerced(receipt json.RawMessage) string {
	var edits schema.Receipt
	switch err := json.Unmarshal(receipt, &edits); {
	case len(receipt) == 0 || err == nil && len(edits) == 0:
		return "the arguments were not changed"
	case err != nil:
		return "changed to fit the input schema; the record of the changes cannot be read"
	}
	changes := make([]string, len(edits))
	for i, e := range edits {
		if e.From == "" { // Stands for changes that are too many to list.
			changes[i] = string(e.Rule)
			continue
		}
		changes[i] = fmt.Sprintf("%s from %s to %s (%s)", cmp.Or(e.Path, "the whole"), e.From, e.To, e.Rule)
	}
	return "changed to fit the input schema: " + strings.Join(changes, "; ")
}

// lane says where the first attempt is run; empty where that is not recorded. Further attempts
// are activities of their own.
func (r *callRecord) lane() string {
	pin := r.pin()
	switch {
	case r.call.Implementation == tool.Client:
		return "outside: a client answers it"
	case pin == nil:
		return ""
	case pin.Agent != nil:
		return "a run of agent " + pin.Agent.String() + ", as a workflow of its own"
	case r.call.ApprovalStatus != "" && r.call.ApprovalStatus != tool.ApprovalNotRequired:
		return "an activity of its own, as every call that waited for an approval"
	case r.run.Kind != agent.RunKindAgent && pin.Fast:
		return "fast: the first attempt is a local activity"
	case r.run.Kind == agent.RunKindAgent && pin.InPlace:
		return "in place: the first attempt is made within the run's activity"
	case pin.Stepwise:
		return "visible: an activity of its own, which then asks the model for its next turn"
	default:
		return "visible: an activity of its own"
	}
}

func (r *callRecord) policy() string {
	class := ""
	if r.call.EgressClass != "" {
		class = "; its egress class was " + string(r.call.EgressClass)
	}
	switch {
	case r.approval != nil:
		return "it needed an approval: " + cmp.Or(strings.Join(r.approval.Reasons, "; "), "the policy asked for one") + class
	case r.call.ErrorKind == tool.Denied:
		return "it was denied" + class
	case r.call.Attempt == 0 && r.call.Status.Final():
		return "it ended before it was admitted" + class
	default:
		return "it needed no approval" + class
	}
}

// decisions returns the decisions of the last round of its approval, and how that ended
// otherwise.
func (r *callRecord) decisions() []v1.CallStep {
	a := r.approval
	if a == nil {
		return nil
	}
	var out []v1.CallStep
	for _, d := range a.Decisions {
		detail := "rejected"
		if d.Approve {
			detail = "approved"
		}
		if len(d.Edited) > 0 {
			detail += " with other arguments"
		}
		if d.GrantID != "" {
			detail += " by standing grant " + d.GrantID
		}
		if d.Reason != "" {
			detail += ": " + d.Reason
		}
		out = append(out, v1.CallStep{Stage: v1.StageApproval, At: &d.At, Detail: detail, By: d.Subject})
	}
	if a.EndedAt != nil && (a.Status == wait.Expired || a.Status == wait.Cancelled) {
		out = append(out, v1.CallStep{
			Stage: v1.StageApproval, At: a.EndedAt, Detail: "the request ended as " + string(a.Status),
		})
	}
	return out
}

// happened returns the step that an event records. The end of the call is not among them: see
// stands.
func (r *callRecord) happened(e *tool.Event) (v1.CallStep, bool) {
	step := v1.CallStep{At: &e.At}
	switch e.Type { //nolint:exhaustive // The end is stands, and output is no step.
	case tool.EventStarted:
		v := dataOf[agent.CallStarted](e)
		step.Stage, step.Detail = v1.StageAttempt, fmt.Sprintf("attempt %d was admitted", v.Attempt)
	case tool.EventNeedsApproval:
		v := dataOf[agent.ApprovalAsked](e)
		step.Stage = v1.StageApproval
		step.Detail = fmt.Sprintf("asked for (round %d, %d needed, until %s): %s", v.Round, v.Needed, stamp(v.ExpiresAt),
			v.Message)
	case tool.EventEscalated:
		v := dataOf[agent.ApprovalEscalated](e)
		step.Stage = v1.StageApproval
		step.Detail = fmt.Sprintf("round %d escalated: keys with the permission %s may decide too", v.Round, v.To)
	case tool.EventApproved:
		v := dataOf[agent.CallApproved](e)
		step.Stage = v1.StageApproval
		step.Detail = fmt.Sprintf("round %d was approved by %s", v.Round, strings.Join(v.By, ", "))
		return step, r.approval == nil || v.Round != r.approval.Round
	case tool.EventPending:
		v := dataOf[agent.CallOffered](e)
		step.Stage, step.Detail = v1.StageOutside, "offered to clients"
		switch {
		case v.AnswerBy != nil:
			step.Detail += ", which may answer until " + stamp(*v.AnswerBy)
		case v.Async:
			step.Detail += "; the caller went on without the result"
		}
	case tool.EventResultReceived:
		v := dataOf[agent.ResultReceived](e)
		step.Stage, step.Detail, step.By = v1.StageOutside, "a result was submitted", v.By
		if v.Late {
			step.Detail += " after the call had ended: it went to the inbox of the run"
		}
	case tool.EventWarning:
		v := dataOf[agent.Warning](e)
		step.Stage, step.Detail = v1.StageWarning, strings.TrimSuffix(v.Reason+": "+v.Message, ": ")
	default:
		return step, false
	}
	return step, true
}

// dataOf decodes what an event holds. One of an older form is empty.
func dataOf[T any](e *tool.Event) (out T) {
	if json.Unmarshal(e.Data, &out) != nil {
		var none T
		return none
	}
	return out
}

func (r *callRecord) recorded() string {
	detail := fmt.Sprintf("the ledger has the effect as %s, without an attempt", r.effect.Phase)
	if r.effect.Attempt > 0 {
		detail = fmt.Sprintf("the ledger has the effect as %s, at attempt %d", r.effect.Phase, r.effect.Attempt)
	}
	if r.effect.SentBefore {
		detail += "; an earlier attempt may have sent a request"
	}
	return detail
}

// stands returns how the call ended, or what it waits for.
func (r *callRecord) stands() v1.CallStep {
	call := &r.call
	if !call.Status.Final() {
		return v1.CallStep{Stage: v1.StageWaits, Detail: r.waitsFor()}
	}
	step := v1.CallStep{Stage: v1.StageEnd, At: call.CompletedAt, Detail: string(call.Status)}
	if call.StartedAt != nil && call.CompletedAt != nil {
		step.Detail += fmt.Sprintf(" after %d ms", call.CompletedAt.Sub(*call.StartedAt).Milliseconds())
	}
	switch {
	case call.ErrorKind != "":
		step.Detail += fmt.Sprintf(": %s: %s", call.ErrorKind, call.Error)
	case call.IsError:
		step.Detail += ": the tool answered with an error"
	}
	if call.Status == tool.StatusUnknown {
		step.Detail += "; where to look for its effect: toolcrib invocations show " + call.InvocationID
	}
	return step
}

func (r *callRecord) waitsFor() string {
	switch {
	case r.approval != nil && r.approval.Status == wait.Pending:
		return fmt.Sprintf("waits for %d of %d approvals by keys with the permission %s, until %s",
			r.approval.Needed-len(r.approval.Decisions), r.approval.Needed, r.mayDecide(), stamp(r.approval.ExpiresAt))
	case r.outside != nil && r.outside.Status.Open() && r.outside.AnswerBy != nil:
		return "waits for a result from a client, until " + stamp(*r.outside.AnswerBy)
	case r.call.Status == tool.StatusApproved:
		return "approved, and not started yet"
	case r.call.Status == tool.StatusRunning:
		return fmt.Sprintf("attempt %d runs", r.call.Attempt)
	default:
		return "has not ended"
	}
}

// mayDecide names the permissions of which one must have one to decide the approval now.
func (r *callRecord) mayDecide() string {
	if !r.approval.Escalated {
		return r.approval.Permission
	}
	return strings.Join(r.approval.Permissions(), " or ")
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
