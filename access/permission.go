package access

import (
	"slices"

	"github.com/toolcrib/toolcrib/wait"
)

// All is the permission to do everything: what endpoints and tools require.
const All = "*"

// Permissions that the endpoints require. A key with scopes has only those of its permissions that
// its scopes name.
const (
	ToolsRead = "tools.read" // See tools, their versions, and why one resolves as it does.
	// ToolsDeclareReads is required beside ToolsWrite if a configuration declares
	// that its POST only reads.
	ToolsDeclareReads = "tools.declare_reads"
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
	RolesRead     = "roles.read"   // See roles and what they permit.
	RolesWrite    = "roles.write"  // Make, change and delete the tenant's roles.
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

	ToolsetsWrite = "toolsets.write" // Choose the tools that MCP clients are offered under an address.

	ViewsRead  = "views.read"  // See published views, never their links.
	ViewsWrite = "views.write" // Publish views: show results to people without a login.

	EmbedsMint = "embeds.mint" // Make tokens that run a tool in frames of other sites, as callers that one names.

	AuditRead = "audit.read" // See who changed what, and verify and export the audit log.

	SpacesRead  = "spaces.read"  // See the spaces that one is a member of, and their messages.
	SpacesPost  = "spaces.post"  // Say something in those spaces, which wakes their agents.
	SpacesWrite = "spaces.write" // Make, change and delete spaces, see every one, and see and delete what agents keep.
)

// Permission is a permission that endpoints require.
type Permission struct {
	Name    string `json:"permission"`
	Meaning string `json:"meaning"`
	// In are the built-in roles that have it, beside admin, which has all.
	In []string `json:"roles"`
}

// permissions are all of them. A permission that admin alone has says why.
var permissions = []struct {
	name, meaning string
	in            []string
	adminOnly     string
}{
	{name: ToolsRead, meaning: "see tools, their versions, and why one resolves as it does", in: everyone},
	{name: ToolsWrite, meaning: "apply, version, publish, deprecate, disable and enable tools", in: builders},
	{
		name: ToolsDeclareReads, meaning: "declare that a tool's POST only reads, beside tools.write",
		adminOnly: "it loosens what the egress class of a tool holds back",
	},
	{name: AgentsRead, meaning: "see agents", in: everyone},
	{name: AgentsWrite, meaning: "apply and publish agents", in: builders},
	{name: RunsRead, meaning: "see runs, transcripts, events and invocations", in: everyone},
	{name: RunsWrite, meaning: "start and cancel runs, call tools", in: workers},
	{name: ApprovalsRead, meaning: "see requests for approval, with the arguments of their calls", in: everyone},
	{name: ApprovalsDecide, meaning: "approve and reject calls, beside approvals.read", in: []string{Approver}},
	{
		name:    ApprovalsConfirm,
		meaning: "confirm one's own direct calls of tools that ask for no more, beside approvals.read", in: workers,
	},
	{
		name:    ResultsSubmit,
		meaning: "see calls that are answered from outside, with their arguments, and submit their results", in: workers,
	},
	{name: KeysRead, meaning: "see API keys, never their secrets", in: []string{Operator, Viewer}},
	{
		name: KeysWrite, meaning: "create and revoke API keys",
		adminOnly: "who has it gives away all that the role permits, in keys that last",
	},
	{name: RolesRead, meaning: "see the tenant's roles and what they permit", in: everyone},
	{
		name: RolesWrite, meaning: "make, change and delete the tenant's roles",
		adminOnly: "a change of a role is a change of every key that has it",
	},
	{name: TenantsRead, meaning: "see the tenant of the key", in: everyone},
	{name: TenantsWrite, meaning: "change settings of the tenant of the key", in: operators},
	{name: CredentialsRead, meaning: "see credentials, never their values", in: makers},
	{name: CredentialsWrite, meaning: "store, rotate and revoke credentials", in: builders},
	{name: PipelinesRead, meaning: "see pipelines and their documents, and search them", in: makers},
	{
		name: PipelinesWrite, meaning: "create, change and delete pipelines, add and delete documents",
		in: builders,
	},
	{
		name: FilesRead, meaning: "see files and their contents, those that people sent with their answers included",
		in: makers,
	},
	{name: FilesWrite, meaning: "upload and delete files", in: workers},
	{name: SchedulesRead, meaning: "see schedules, their times and their starts", in: makers},
	{
		name:    SchedulesWrite,
		meaning: "make, change, pause, trigger and delete schedules; to make or change one also takes runs.write",
		in:      workers,
	},
	{name: WebhooksRead, meaning: "see webhooks and their deliveries, never their secrets", in: makers},
	{
		name: WebhooksWrite, meaning: "send the tenant's events to URLs: make, change and delete webhooks",
		in: operators,
	},
	{
		name: PayloadsDecrypt, meaning: "have payloads of the tenant's workflows decrypted, for the Temporal UI and CLI",
		in: operators,
	},
	{
		name: PayloadsEncrypt, meaning: "have payloads encrypted for the tenant's workflows, for the Temporal CLI",
		in: operators,
	},
	{name: UsageRead, meaning: "read reports of calls, tokens and costs, by day, agent, tool and model", in: makers},
	{name: PricesRead, meaning: "see the tenant's prices and the platform's", in: makers},
	{name: PricesWrite, meaning: "set and delete the tenant's prices", in: operators},
	{name: BudgetsRead, meaning: "see the tenant's budgets and what is spent of them", in: makers},
	{name: BudgetsWrite, meaning: "set and delete the tenant's budgets", in: operators},
	{name: ProfilesRead, meaning: "see profiles: named sets of restrictions of calls", in: makers},
	{name: ProfilesWrite, meaning: "make, change and delete profiles", in: operators},
	{name: AssignmentsRead, meaning: "see which tools and profiles are assigned to which agents", in: makers},
	{
		name: AssignmentsWrite, meaning: "assign tools to agents, and profiles to calls, and revoke that",
		in: operators,
	},
	{
		name: ToolsetsWrite, in: workers,
		meaning: "make, change and delete toolsets, which MCP clients are offered; tools.read is to see them",
	},
	{name: ViewsRead, meaning: "see published views, never their links", in: makers},
	{
		name: ViewsWrite, in: operators,
		meaning: "publish results and descriptions of tools behind links that need no login, rotate and revoke the links",
	},
	{
		name: EmbedsMint, in: operators,
		meaning: "make tokens that run a tool in frames of other sites, as callers that one names",
	},
	{
		name: AuditRead, meaning: "see who changed what, with what was changed, and verify and export the audit log",
		in: operators,
	},
	{name: SpacesRead, meaning: "see the spaces that one is a member of, and their messages", in: everyone},
	{name: SpacesPost, meaning: "say something in those spaces, which wakes their agents", in: workers},
	{
		name:    SpacesWrite,
		meaning: "make, change and delete spaces and their members, and see every space and what agents keep",
		in:      builders,
	},
}

// Known lists every permission that an endpoint requires, with a description of what it allows.
func Known() []Permission {
	out := make([]Permission, len(permissions))
	for i, p := range permissions {
		out[i] = Permission{Name: p.name, Meaning: p.meaning, In: slices.Concat([]string{Admin}, p.in)}
	}
	return out
}

// Names lists the names of [Known].
func Names() []string {
	out := make([]string, len(permissions))
	for i, p := range permissions {
		out[i] = p.name
	}
	return out
}

// AdminOnly returns why no built-in role beside admin has a permission; empty for one that another
// has.
func AdminOnly(permission string) string {
	for _, p := range permissions {
		if p.name == permission {
			return p.adminOnly
		}
	}
	return ""
}
