package summary

import "github.com/toolcrib/toolcrib/tool"

// example returns the records with which an empty folder begins.
func example(tenant tool.TenantID) content {
	const other = "00000000-0000-7000-8000-0000000000ff"
	sources := []Entity{
		{
			"ent-site", "site",
			"Kettle & Co. runs two warehouses and has 40 pickers. The older one serves the south.",
		},
		{
			"ent-goal", "goal",
			"The client wants parcels to leave on the day of the order. It aims at 95 percent by summer.",
		},
		{
			"ent-pilot", "pilot",
			"The pilot measured 3,000 orders. It found that a third of the walking can go. " +
				"Shorter walks save 210,000 euros a year.",
		},
		{
			"ent-systems", "assessment",
			"The assessment shows that stock is counted twice. The plan depends on one system for stock. " +
				"The risk is the change-over in November.",
		},
		{
			"ent-plan", "plan",
			"The north comes first, in the second quarter. The south follows then. " +
				"The board should decide on the system by May.",
		},
	}
	return content{
		Tenants: map[tool.TenantID]Tenant{
			tenant: {
				Bundles: []string{Bundle}, Workspaces: map[string][]string{"*": {"advisory"}},
				Settings: Settings{
					Classification: "confidential", Disclaimer: "Written by a machine from the sources that it names.",
				},
			},
			other: {Workspaces: map[string][]string{"*": {"advisory"}}},
		},
		Engagements: map[string]Engagement{
			"ENG-1": {ID: "ENG-1", Tenant: tenant, Workspace: "advisory", Client: "Kettle & Co.", Entities: sources},
			"ENG-2": {ID: "ENG-2", Tenant: tenant, Workspace: "advisory", Client: "Lamp Ltd.", Entities: sources[:2]},
			"ENG-3": {ID: "ENG-3", Tenant: tenant, Workspace: "tax", Client: "Vase Inc.", Entities: sources},
			"ENG-9": {ID: "ENG-9", Tenant: other, Workspace: "advisory", Client: "Mug AG", Entities: sources},
		},
		Summaries: map[string]Summary{},
	}
}
