package tool

import "encoding/json"

// Meta is a tool as catalogues list it: what it is and whom it is for, without executor,
// configuration and schemas. It holds nothing that a caller could not be shown.
type Meta struct {
	ID                 string          `json:"id"`
	Slug               string          `json:"slug"`
	Name               string          `json:"name"`
	Description        string          `json:"description"`
	Category           string          `json:"category,omitempty"`
	Icon               string          `json:"icon,omitempty"`
	Bucket             Bucket          `json:"tool_type"`
	Implementation     Implementation  `json:"implementation_type"`
	Status             Status          `json:"status"`
	Active             bool            `json:"is_active"`
	Version            string          `json:"version"`
	Revision           int64           `json:"revision"`
	Risk               RiskLevel       `json:"risk"`
	EgressClass        Egress          `json:"egress_class"`
	Collaborative      bool            `json:"collaborative,omitempty"`
	OutputSections     json.RawMessage `json:"output_sections,omitempty"`
	RequiredPermission string          `json:"required_permission,omitempty"`
	TenantSlugs        []string        `json:"tenant_slugs,omitempty"`
}

// Meta returns the summary of t.
func (t *Tool) Meta() Meta {
	return Meta{
		ID: t.ID, Slug: t.Slug, Name: t.Name, Description: t.Description, Category: t.Category, Icon: t.Icon,
		Bucket: t.Bucket(), Implementation: t.ImplementationType(), Status: t.Status, Active: t.Active,
		Version: t.Version, Revision: t.Revision, Risk: t.RiskLevel(), EgressClass: t.EgressClass,
		Collaborative: t.Interaction.Collaborative, OutputSections: t.Interaction.OutputSections,
		RequiredPermission: t.RequiredPermission, TenantSlugs: t.TenantSlugs,
	}
}
