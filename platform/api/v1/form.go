package v1

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// ToolForm is the form of a tool for people: its inputs, the effect of a call, and
// the presentation of the answer. It derives from the schemas that agents get.
type ToolForm struct {
	ID          string `json:"id"                 example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
	Slug        string `json:"slug"               example:"searchOrders"`
	Version     string `json:"version"            example:"1.2.0"`
	Draft       bool   `json:"draft"                                                             doc:"Whether this is the unversioned draft"`
	Name        string `json:"name"               example:"Search orders"`
	Description string `json:"description"        example:"Finds the orders of a customer."`
	Category    string `json:"category,omitempty" example:"orders"`
	Icon        string `json:"icon,omitempty"     example:"search"`

	Intent         tool.Intent          `json:"intent"                    enum:"render,action,compute" doc:"Purpose of a call"`
	Audience       tool.Audience        `json:"audience"                  enum:"model,user"            doc:"Whether models are offered the tool too, or people and clients only"`
	Confirm        Confirm              `json:"confirm"`
	Annotations    json.RawMessage      `json:"annotations,omitempty"                                  doc:"Annotations of the definition for clients"                                                                                               example:"{}"`
	Input          json.RawMessage      `json:"input"                                                  doc:"The form of the arguments: fields, in order, and beside them open, keywords, schema and kept. It may be edited and sent as input_fields" example:"{\"fields\":[{\"key\":\"customer\",\"label\":\"Customer\",\"type\":\"text\",\"display\":\"input\",\"required\":true}]}"`
	Output         json.RawMessage      `json:"output,omitempty"                                       doc:"The form of the structured result, where the tool has an output schema"                                                                  example:"{\"fields\":[{\"key\":\"total\",\"type\":\"number\",\"display\":\"input\"}]}"`
	OutputSections []tool.OutputSection `json:"output_sections,omitempty"                              doc:"How the parts of the result are shown"`
	App            bool                 `json:"app,omitempty"                                          doc:"Whether an MCP server has a page for the results that may be shown"                                                                           example:"true"`
}

// Confirm says whether a call needs a confirmation before it runs.
type Confirm struct {
	Required bool     `json:"required"`
	Reasons  []string `json:"reasons"  example:"[\"it changes an external system\"]"`
}

// FormOf returns the form of a definition of t, which is its draft or one of
// its versions.
func FormOf(t *tool.Tool, d *tool.Definition, version string, draft bool) ToolForm {
	shown := fromDefinition(*d)
	f := ToolForm{
		ID: t.ID, Slug: t.Slug, Version: version, Draft: draft, Name: d.Name, Description: d.Description,
		Category: d.Category, Icon: d.Icon,
		Intent: d.Interaction.Purpose(), Audience: tool.AudienceModel, Confirm: confirmOf(&t.Policy),
		Annotations: d.Interaction.Annotations,
		Input:       formOf(shown.InputSchema),
	}
	if !d.Interaction.ForModels() {
		f.Audience = tool.AudienceUser
	}
	if len(d.OutputSchema) > 0 {
		f.Output = formOf(shown.OutputSchema)
	}
	// Invalid ones, stored before they were checked, are not shown.
	_ = json.Unmarshal(d.Interaction.OutputSections, &f.OutputSections)
	return f
}

// formOf returns the form of a schema; a form without fields where it is none.
func formOf(raw json.RawMessage) json.RawMessage {
	form, err := field.Read(raw)
	if err != nil {
		form = field.Form{Fields: []field.Field{}, Schema: raw, Kept: []field.Kept{{Reason: "the schema cannot be read"}}}
	}
	out, err := json.Marshal(form)
	if err != nil {
		return json.RawMessage(`{"fields":[]}`)
	}
	return out
}

func confirmOf(p *tool.Policy) Confirm {
	c := Confirm{Reasons: []string{}}
	if p.EgressClass == tool.EgressWrite {
		c.Reasons = append(c.Reasons, "it changes an external system")
	}
	if p.RequiresApproval && p.EgressClass != tool.EgressWrite {
		c.Reasons = append(c.Reasons, "the tool requires an approval of every call")
	}
	if p.PermissionPolicy == tool.PermissionAlwaysAsk {
		c.Reasons = append(c.Reasons, "every call by an agent requires an approval")
	}
	c.Required = len(c.Reasons) > 0
	return c
}
