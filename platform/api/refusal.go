package api

import (
	"context"

	"github.com/go-chi/chi/v5"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/tool"
)

// refusable are the actions that endpoints stand for, by operation: where one is denied, the
// refusal is a row of the audit log. A test lists the others with their reasons.
var refusable = map[string]audit.Action{ //nolint:gosec // Names, no credentials.
	"apply": "tool.created", "createTool": "tool.created", "updateTool": "tool.draft_edited",
	"publishTool": "tool.published", "versionTool": "tool.versioned", "deprecateTool": "tool.deprecated",
	"disableTool": "tool.disabled", "enableTool": "tool.enabled", "deleteTool": "tool.deleted",
	"bulkTools": "tool.draft_edited", "importTools": "tool.created", "renameTool": "tool.renamed",
	"importOpenAPI": "tool.created", "streamImportOpenAPI": "tool.created", "setToolOverride": "tool.override_set",
	"deleteToolOverride": "tool.override_removed", "archiveTool": "tool.archived", "restoreTool": "tool.restored",
	"startCanary": "canary.created", "promoteCanary": "canary.changed", "stopCanary": "canary.changed",
	"setToolGate": "publish_gate.created", "deleteToolGate": "publish_gate.deleted", "createReplay": "run.started",
	"setPublishGate": "publish_gate.created", "deletePublishGate": "publish_gate.deleted",

	"createAgent": "agent.created", "updateAgent": "agent.draft_edited", "publishAgent": "agent.published",
	"versionAgent": "agent.versioned", "deprecateAgent": "agent.deprecated", "disableAgent": "agent.disabled",
	"enableAgent": "agent.enabled", "deleteAgentNote": "note.deleted",

	"attachMCPServer": "mcp_server.created", "updateMCPServer": "mcp_server.changed",
	"refreshMCPServer": "mcp_server.discovered", "detachMCPServer": "mcp_server.detached",
	"approveMCPTools": "mcp_server.tool_approved", "trustMCPServer": "mcp_server.changed",

	"createArtifact": "artifact.created", "uploadArtifact": "artifact.versioned",
	"deprecateArtifact": "artifact.deprecated", "disableArtifact": "artifact.disabled",
	"enableArtifact": "artifact.enabled",

	"approve": "approval.decided", "reject": "approval.decided", "decideApprovals": "approval.decided",
	"createGrant": "grant.created", "revokeGrant": "grant.revoked",
	"submitResult": "pending_call.answered", "submitRunResult": "pending_call.answered",
	"createSubmitToken": "pending_call.token_made", "createInputLink": "input.link_made",
	"revokeInputLinks": "input.link_made",

	"startRun": "run.started", "rerun": "run.started", "callTool": "run.started", "testTool": "run.started",
	"streamToolTest": "run.started", "continueRun": "run.continued", "cancelRun": "run.cancelled",
	"pauseRun": "run.paused", "resumeRun": "run.resumed",
	"setPrice": "price.created", "deletePrice": "price.deleted",
	"setBudget": "budget.created", "deleteBudget": "budget.deleted",
	"createProfile": "profile.created", "changeProfile": "profile.changed", "deleteProfile": "profile.deleted",
	"setAssignment": "assignment.created", "deleteAssignment": "assignment.deleted",
	"publishView": "view.created", "rotateView": "view.changed", "revokeView": "view.changed",
	"setTenantPublishing": "tenant.changed",
	"createToolSession":   "tool_session.created", "completeToolSession": "tool_session.changed",
	"cancelToolSession": "tool_session.changed", "linkToolSession": "tool_session.changed",
	"unlinkToolSession": "tool_session.changed", "submitToToolSession": "run.started", "joinToolSession": "run.started",
	"addEmbedOrigin": "embed_origin.created", "removeEmbedOrigin": "embed_origin.deleted",
	"createEmbedToken": "run.started",
	"createToolset":    "toolset.created", "updateToolset": "toolset.changed", "deleteToolset": "toolset.deleted",

	"createKey": "key.created", "revokeKey": "key.revoked", "endSessionOf": "browser_session.deleted",
	"setTenantMasking": "tenant.changed",
	"setTenantTaint":   "tenant.changed",
	"createRole":       "role.created", "changeRole": "role.changed", "deleteRole": "role.deleted",
	"createCredential": "credential.created", "changeCredential": "credential.changed",
	"deleteCredential": "credential.revoked",

	"createPipeline": "pipeline.created", "updatePipeline": "pipeline.changed", "deletePipeline": "pipeline.deleted",
	"reembedPipeline": "pipeline.reembedded", "addDocument": "pipeline.document_added",
	"deleteDocument": "pipeline.document_deleted",
	"uploadFile":     "file.uploaded", "uploadInputFile": "file.uploaded", "deleteFile": "file.deleted",

	"createSchedule": "schedule.created", "changeSchedule": "schedule.changed", "deleteSchedule": "schedule.deleted",
	"pauseSchedule": "schedule.paused", "resumeSchedule": "schedule.resumed", "triggerSchedule": "schedule.triggered",
	"backfillSchedule": "schedule.triggered",

	"createWebhook": "webhook.created", "changeWebhook": "webhook.changed", "deleteWebhook": "webhook.deleted",
	"rotateWebhook": "webhook.secret_rotated", "pingWebhook": "webhook.replayed", "replayDelivery": "webhook.replayed",

	"createSpace": "space.created", "changeSpace": "space.changed", "deleteSpace": "space.deleted",
	"addSpaceMember": "space.member_added", "removeSpaceMember": "space.member_removed",
	"postSpaceMessage": "space.posted",

	"decodePayloads": "payload.decrypted",
}

// Refusable returns the action that an operation of the API stands for where it is denied;
// false for one whose refusals leave no row.
func Refusable(operation string) (audit.Action, bool) {
	action, ok := refusable[operation]
	return action, ok
}

// maxObjectName bounds the name of an object that a refused request asked for, in bytes.
const maxObjectName = 200

// auditRefusal records that a request was denied, before it is answered, and returns the
// failure to answer with: err, unless the record could not be written. The object is the one
// given, else the first parameter of the path.
func (s *server) auditRefusal(
	ctx context.Context, operation string, p tool.Principal, err error, object ...string,
) error {
	action, ok := Refusable(operation)
	if !ok || tool.KindOf(err) != tool.Denied {
		return err
	}
	var of audit.Object
	if route := chi.RouteContext(ctx); route != nil && len(object) == 0 {
		object = route.URLParams.Values
	}
	if len(object) > 0 {
		of.Name = object[0][:min(len(object[0]), maxObjectName)]
		if tool.ValidID(of.Name) {
			of.ID = of.Name
		}
	}
	if failed := s.cfg.Store.RefuseAudit(ctx, p.Tenant, action, of, tool.AsError(err).Msg); failed != nil {
		return &tool.Error{
			Kind: tool.Unavailable, Op: "api.auditRefusal", Msg: "the audit log cannot be written now: try again", Err: failed,
		}
	}
	return err
}
