package api

import "github.com/toolcrib/toolcrib/access"

// Permissions that the endpoints require, of package access, which says what they are for.
const (
	ToolsRead         = access.ToolsRead
	ToolsDeclareReads = access.ToolsDeclareReads
	ToolsWrite        = access.ToolsWrite
	AgentsRead        = access.AgentsRead
	AgentsWrite       = access.AgentsWrite
	RunsRead          = access.RunsRead
	RunsWrite         = access.RunsWrite
	ApprovalsRead     = access.ApprovalsRead
	ApprovalsDecide   = access.ApprovalsDecide
	ApprovalsConfirm  = access.ApprovalsConfirm
	ResultsSubmit     = access.ResultsSubmit
	KeysRead          = access.KeysRead
	KeysWrite         = access.KeysWrite
	RolesRead         = access.RolesRead
	RolesWrite        = access.RolesWrite
	TenantsRead       = access.TenantsRead
	TenantsWrite      = access.TenantsWrite
	CredentialsRead   = access.CredentialsRead
	CredentialsWrite  = access.CredentialsWrite
	PipelinesRead     = access.PipelinesRead
	PipelinesWrite    = access.PipelinesWrite
	FilesRead         = access.FilesRead
	FilesWrite        = access.FilesWrite
	SchedulesRead     = access.SchedulesRead
	SchedulesWrite    = access.SchedulesWrite
	WebhooksRead      = access.WebhooksRead
	WebhooksWrite     = access.WebhooksWrite
	PayloadsDecrypt   = access.PayloadsDecrypt
	PayloadsEncrypt   = access.PayloadsEncrypt
	UsageRead         = access.UsageRead
	PricesRead        = access.PricesRead
	PricesWrite       = access.PricesWrite
	BudgetsRead       = access.BudgetsRead
	BudgetsWrite      = access.BudgetsWrite
	ProfilesRead      = access.ProfilesRead
	ProfilesWrite     = access.ProfilesWrite
	AssignmentsRead   = access.AssignmentsRead
	AssignmentsWrite  = access.AssignmentsWrite
	ToolsetsWrite     = access.ToolsetsWrite
	ViewsRead         = access.ViewsRead
	ViewsWrite        = access.ViewsWrite
	EmbedsMint        = access.EmbedsMint
	AuditRead         = access.AuditRead
	SpacesRead        = access.SpacesRead
	SpacesPost        = access.SpacesPost
	SpacesWrite       = access.SpacesWrite
)

// Permission is a permission that endpoints require.
type Permission = access.Permission

// KnownPermissions lists every permission that an endpoint requires, with a
// description of what it allows.
func KnownPermissions() []Permission { return access.Known() }

// Permissions lists every permission that an endpoint requires.
func Permissions() []string { return access.Names() }
