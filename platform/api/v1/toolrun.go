package v1

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/tool"
)

// ToolRun is a call in an older shape, for clients that know that one. It is translated from the
// record and never stored; invocations have more.
type ToolRun struct {
	ID         string          `json:"id" doc:"That of the invocation"`
	Tenant     tool.TenantID   `json:"tenant_id"`
	ToolSlug   string          `json:"tool_slug" example:"searchOrders"`
	UserID     string          `json:"user_id" doc:"Subject that the call was made for" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	Input      json.RawMessage `json:"input,omitempty"`
	Output     json.RawMessage `json:"output,omitempty" doc:"The structured answer, or its text"`
	Status     string          `json:"status" enum:"success,error"`
	Error      string          `json:"error,omitempty"`
	DurationMS int64           `json:"duration_ms" example:"120"`
	Source     string          `json:"source" enum:"web,agent,api" doc:"agent for calls of agents, web for people with a token of an issuer, api for keys"`
	ChatID     string          `json:"chat_id,omitempty" doc:"The run that this one continues, or the run itself"`
	SessionID  string          `json:"session_id" doc:"The run"`
}

// ToToolRun translates the record of a call that ended. It reports false for one that has not.
func ToToolRun(i tool.Invocation, run agent.Run) (ToolRun, bool) {
	if !i.Status.Final() {
		return ToolRun{}, false
	}
	out := ToolRun{
		ID: i.InvocationID, Tenant: i.Principal.Tenant, ToolSlug: i.Slug, UserID: i.Principal.Subject, Input: i.Input,
		Status: "success", Error: i.Error, Source: sourceOf(i), ChatID: run.ID, SessionID: run.ID,
	}
	if run.Continues != nil && run.Continues.RunID != "" {
		out.ChatID = run.Continues.RunID
	}
	if i.StartedAt != nil && i.CompletedAt != nil {
		out.DurationMS = i.CompletedAt.Sub(*i.StartedAt).Milliseconds()
	}
	if i.Output != nil {
		out.Output = outputOf(i.Output)
	}
	if i.Status != tool.StatusCompleted || i.IsError {
		out.Status = "error"
		if out.Error == "" && i.Output != nil {
			out.Error = tool.ReadableText(i.Output.Content)
		}
	}
	return out, true
}

// sourceOf returns where a call came from.
func sourceOf(i tool.Invocation) string {
	switch {
	case i.AgentID != "":
		return "agent"
	case audit.ActorOf(i.Principal, "").Kind == audit.User && strings.HasPrefix(i.Principal.Subject, "user:"):
		return "web"
	default:
		return "api"
	}
}

// outputOf returns an answer as one JSON value.
func outputOf(r *tool.Result) json.RawMessage {
	if len(r.Structured) > 0 {
		return r.Structured
	}
	if len(r.Content) == 1 && len(r.Content[0].JSON) > 0 {
		return r.Content[0].JSON
	}
	raw, err := json.Marshal(tool.ReadableText(r.Content))
	if err != nil {
		return nil
	}
	return raw
}
