package api

import (
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/wait"
)

// Permissions that the endpoints require. "*" is all of them, and those that
// tools require. A key with scopes has only those of its permissions that its
// scopes name.
const (
	ToolsRead = "tools.read" // See tools, their versions, and why one resolves as it does.
	// ToolsDeclareReads is required beside ToolsWrite if a configuration declares
	// that its POST only reads.
	ToolsDeclareReads = registry.DeclareReads
	ToolsWrite        = "tools.write"         // Apply, version, publish, deprecate, disable and enable tools.
	AgentsRead        = "agents.read"         // See agents.
	AgentsWrite       = "agents.write"        // Apply and publish agents.
	RunsRead          = "runs.read"           // See runs, transcripts, events and invocations.
	RunsWrite         = "runs.write"          // Start and cancel runs, call tools.
	ApprovalsRead     = "approvals.read"      // See requests for approval, with the arguments of their calls.
	ApprovalsDecide   = wait.DecidePermission // Approve and reject calls, beside ApprovalsRead.
	// ApprovalsConfirm is to confirm calls that one made oneself, beside ApprovalsRead.
	ApprovalsConfirm = wait.ConfirmPermission
	// ResultsSubmit is to see calls that are answered from outside, and to answer them.
	ResultsSubmit = wait.SubmitPermission
	KeysRead      = "keys.read"    // See API keys, never their secrets.
	KeysWrite     = "keys.write"   // Create and revoke API keys.
	TenantsRead   = "tenants.read" // See the tenant of the key.

	TenantsWrite = "tenants.write" // Change settings of the tenant of the key.

	CredentialsRead  = "credentials.read"  // See credentials, never their values.
	CredentialsWrite = "credentials.write" // Store, rotate and revoke credentials.

	PipelinesRead  = "pipelines.read"  // See pipelines and their documents, and search them.
	PipelinesWrite = "pipelines.write" // Create, change and delete pipelines, add and delete documents.

	FilesRead  = "files.read"  // See files and their contents.
	FilesWrite = "files.write" // Upload and delete files.

	SchedulesRead  = "schedules.read"  // See schedules, their times and their starts.
	SchedulesWrite = "schedules.write" // Make, change, pause, trigger and delete schedules, beside RunsWrite.

	WebhooksRead  = "webhooks.read"  // See webhooks and their deliveries, never their secrets.
	WebhooksWrite = "webhooks.write" // Send the tenant's events to URLs: make, change and delete webhooks.

	// PayloadsDecrypt is to have payloads of the tenant's workflows decrypted: what Temporal keeps.
	PayloadsDecrypt = "payloads.decrypt"
	// PayloadsEncrypt is to have payloads encrypted for them.
	PayloadsEncrypt = "payloads.encrypt"

	UsageRead   = "usage.read"   // Read reports of usage and costs.
	PricesRead  = "prices.read"  // See prices.
	PricesWrite = "prices.write" // Set and delete the tenant's prices.
	// BudgetsRead and BudgetsWrite are for the limits of what may be spent.
	BudgetsRead  = "budgets.read"
	BudgetsWrite = "budgets.write"

	// ProfilesRead and ProfilesWrite are for named sets of restrictions.
	ProfilesRead  = "profiles.read"
	ProfilesWrite = "profiles.write"
	// AssignmentsRead and AssignmentsWrite are for what agents have beside their definitions, and where
	// profiles apply.
	AssignmentsRead  = "assignments.read"
	AssignmentsWrite = "assignments.write"
	ToolsetsWrite    = "toolsets.write" // Choose the tools that MCP clients are offered under an address.

	AuditRead = "audit.read" // See who changed what, and verify and export the audit log.

	SpacesRead  = "spaces.read"  // See the spaces that one is a member of, and their messages.
	SpacesPost  = "spaces.post"  // Say something in those spaces, which wakes their agents.
	SpacesWrite = "spaces.write" // Make, change and delete spaces, see every one, and see and delete what agents keep.
)

// Permission is a permission that endpoints require.
type Permission struct {
	Name    string `json:"permission"`
	Meaning string `json:"meaning"`
}

// KnownPermissions lists every permission that an endpoint requires, with a
// description of what it allows.
func KnownPermissions() []Permission {
	return []Permission{
		{ToolsRead, "see tools, their versions, and why one resolves as it does"},
		{ToolsWrite, "apply, version, publish, deprecate, disable and enable tools"},
		{ToolsDeclareReads, "declare that a tool's POST only reads, beside tools.write"},
		{AgentsRead, "see agents"},
		{AgentsWrite, "apply and publish agents"},
		{RunsRead, "see runs, transcripts, events and invocations"},
		{RunsWrite, "start and cancel runs, call tools"},
		{ApprovalsRead, "see requests for approval, with the arguments of their calls"},
		{ApprovalsDecide, "approve and reject calls, beside approvals.read"},
		{ApprovalsConfirm, "confirm one's own direct calls of tools that ask for no more, beside approvals.read"},
		{ResultsSubmit, "see calls that are answered from outside, with their arguments, and submit their results"},
		{KeysRead, "see API keys, never their secrets"},
		{KeysWrite, "create and revoke API keys"},
		{TenantsRead, "see the tenant of the key"},
		{TenantsWrite, "change settings of the tenant of the key"},
		{CredentialsRead, "see credentials, never their values"},
		{CredentialsWrite, "store, rotate and revoke credentials"},
		{PipelinesRead, "see pipelines and their documents, and search them"},
		{PipelinesWrite, "create, change and delete pipelines, add and delete documents"},
		{FilesRead, "see files and their contents, those that people sent with their answers included"},
		{FilesWrite, "upload and delete files"},
		{SchedulesRead, "see schedules, their times and their starts"},
		{SchedulesWrite, "make, change, pause, trigger and delete schedules; to make or change one also takes runs.write"},
		{WebhooksRead, "see webhooks and their deliveries, never their secrets"},
		{WebhooksWrite, "send the tenant's events to URLs: make, change and delete webhooks"},
		{PayloadsDecrypt, "have payloads of the tenant's workflows decrypted, for the Temporal UI and CLI"},
		{PayloadsEncrypt, "have payloads encrypted for the tenant's workflows, for the Temporal CLI"},
		{UsageRead, "read reports of calls, tokens and costs, by day, agent, tool and model"},
		{PricesRead, "see the tenant's prices and the platform's"},
		{PricesWrite, "set and delete the tenant's prices"},
		{BudgetsRead, "see the tenant's budgets and what is spent of them"},
		{BudgetsWrite, "set and delete the tenant's budgets"},
		{ProfilesRead, "see profiles: named sets of restrictions of calls"},
		{ProfilesWrite, "make, change and delete profiles"},
		{AssignmentsRead, "see which tools and profiles are assigned to which agents"},
		{AssignmentsWrite, "assign tools to agents, and profiles to calls, and revoke that"},
		{ToolsetsWrite, "make, change and delete toolsets, which MCP clients are offered; tools.read is to see them"},
		{AuditRead, "see who changed what, with what was changed, and verify and export the audit log"},
		{SpacesRead, "see the spaces that one is a member of, and their messages"},
		{SpacesPost, "say something in those spaces, which wakes their agents"},
		{SpacesWrite, "make, change and delete spaces and their members, and see every space and what agents keep"},
	}
}

// Permissions lists every permission that an endpoint requires.
func Permissions() []string {
	known := KnownPermissions()
	out := make([]string, len(known))
	for i, p := range known {
		out[i] = p.Name
	}
	return out
}
