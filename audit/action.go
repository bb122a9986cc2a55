package audit

import "strings"

// Action is what was done: the kind of object, a dot, and a verb.
type Action string

// ActionInfo describes an action.
type ActionInfo struct {
	Action  Action `json:"action"`
	Meaning string `json:"meaning"`
}

// Actions lists every action. Names are never changed or used again.
func Actions() []ActionInfo {
	out := make([]ActionInfo, 0, 2*len(verbs))
	for _, v := range verbs {
		for kind := range strings.FieldsSeq(v.kinds) {
			meaning := strings.ReplaceAll(v.meaning, "%", nouns[kind])
			out = append(out, ActionInfo{Action(kind + "." + v.verb), meaning})
		}
	}
	return out
}

// ObjectKinds lists the kinds of objects, in the order of [Actions].
func ObjectKinds() []string {
	var out []string
	seen := map[string]bool{}
	for _, a := range Actions() {
		if kind := a.Action.Kind(); !seen[kind] {
			seen[kind] = true
			out = append(out, kind)
		}
	}
	return out
}

// Kind returns the kind of object.
func (a Action) Kind() string {
	kind, _, _ := strings.Cut(string(a), ".")
	return kind
}

// nouns are the kinds of objects, in words.
var nouns = map[string]string{ //nolint:gosec // Words, no credentials.
	"tool": "a tool", "graph": "a graph", "agent": "an agent", "credential": "a credential", "key": "an API key",
	"tenant": "a tenant", "retention": "a rule of retention", "approval": "a request for approval",
	"grant": "a standing grant", "input": "a request for input", "pending_call": "a call that waits for its result",
	"run": "a run", "webhook": "a webhook", "schedule": "a schedule", "pipeline": "a pipeline", "space": "a space",
	"mcp_server": "an MCP server", "artifact": "an artifact", "file": "a file", "note": "what an agent keeps",
	"payload": "payloads of workflows", "price": "a price", "budget": "a budget",
	"profile": "a profile", "assignment": "an assignment of a tool",
	"toolset": "a toolset",
	"role":    "a role",
	"quota":   "a quota",
	"canary":  "a canary of a tool's version", "publish_gate": "what has to pass before a tool is published",
	"view": "a published view", "tool_session": "a tool session",
	"embed_origin":    "an origin that may frame tools",
	"browser_session": "the session of a browser",
}

// verbs are the actions by what is done; % in a meaning is the object.
var verbs = []struct{ kinds, verb, meaning string }{
	{
		"tool graph agent credential key tenant grant webhook schedule pipeline space mcp_server artifact price budget " +
			"profile assignment toolset role quota canary publish_gate view tool_session embed_origin " +
			"browser_session",
		"created",
		"% was made",
	},
	{"tool graph agent", "draft_edited", "the draft or the settings of % were changed"},
	{"tool graph agent artifact", "versioned", "a version of % was made, and not published"},
	{"tool graph agent", "published", "a version of % was published"},
	{"tool graph agent artifact", "deprecated", "% was deprecated"},
	{"tool graph agent artifact pipeline webhook mcp_server", "disabled", "% was switched off"},
	{"tool graph agent artifact pipeline webhook mcp_server", "enabled", "% was switched on again"},
	{"tool graph agent", "renamed", "% got another slug"},
	{"tool graph", "quarantined", "% may not run, since its server changed it"},
	{"tool graph", "released", "% may run again"},
	{"tool graph agent artifact", "version_deleted", "a version of % was deleted, past the platform"},
	{"tool", "override_set", "the tenant or the platform decided about %"},
	{"tool", "override_removed", "a decision about % was taken back"},
	{
		"credential key tenant grant webhook schedule pipeline space mcp_server artifact file price budget profile " +
			"assignment toolset role quota canary publish_gate view tool_session",
		"changed",
		"settings of % were changed",
	},
	{"credential", "rotated", "% got another value"},
	{"credential", "reencrypted", "the value of % was encrypted with another data key"},
	{"credential key grant", "revoked", "% was revoked"},
	{"tenant", "suspended", "% was suspended"},
	{"tenant", "resumed", "% was made active again"},
	{"tenant", "data_key_made", "% got a data key"},
	{"tenant", "data_key_wrapped", "a data key of % was wrapped with another key"},
	{"tenant", "data_key_deleted", "a data key of % was deleted, past the platform"},
	{"tenant", "erasure_started", "the erasure of % began"},
	{"tenant", "erased", "% was erased, with all that it had"},
	{"retention", "set", "% was set"},
	{"retention", "unset", "% was removed"},
	{"approval", "decided", "a person approved or rejected a call"},
	{"approval", "decision_deleted", "a decision on % was deleted, past the platform"},
	{"pending_call input", "answered", "% was answered"},
	{"pending_call", "token_made", "a token that answers % was made"},
	{"input", "link_made", "a link to the page of % was made"},
	{"run", "started", "% was asked for"},
	{"run", "continued", "% was given another message"},
	{"run", "cancelled", "% was asked to end"},
	{"webhook", "secret_rotated", "% got another secret"},
	{"webhook", "replayed", "deliveries of % were sent again"},
	{"schedule run", "paused", "% was paused"},
	{"schedule run", "resumed", "% was resumed"},
	{"schedule", "triggered", "% was started out of its times"},
	{"pipeline", "document_added", "a document was added to %"},
	{"pipeline", "document_replaced", "a document of % was replaced"},
	{"pipeline", "document_deleted", "a document of % was deleted"},
	{"pipeline", "reembedded", "% was embedded with another model"},
	{"tool graph space", "archived", "% was archived"},
	{"tool graph space", "restored", "% was taken out of the archive"},
	{"space", "posted", "a message was posted to %"},
	{"space", "member_added", "an agent or a person was added to %"},
	{"space", "member_changed", "a member of % was changed"},
	{"space", "member_removed", "an agent or a person was removed from %"},
	{"mcp_server", "discovered", "the tools of % were asked for"},
	{"mcp_server", "detached", "% was detached"},
	{"mcp_server", "tool_approved", "a definition that % offers was approved"},
	{"file", "uploaded", "% was uploaded"},
	{"payload", "decrypted", "% were decrypted"},
	{
		"tool graph agent credential key tenant grant webhook schedule pipeline space mcp_server artifact file note price " +
			"budget profile assignment toolset role quota canary publish_gate view tool_session embed_origin " +
			"browser_session",
		"deleted", "% was deleted",
	},
}
