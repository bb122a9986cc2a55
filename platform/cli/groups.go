package cli

import "github.com/spf13/cobra"

// groups are the headings under which help lists the commands, in the order in which people need them.
var groups = []struct {
	title    string
	commands []string
}{
	{"Begin:", []string{"dev", "doctor", "apply", "export", "search", "context", "settings", "completion", "help"}},
	{"Tools and agents:", []string{
		"tool", "agent", "graph", "mcp", "toolset", "pipeline", "artifact", "credential", "profile",
	}},
	{"Runs:", []string{
		"run", "invocations", "explain", "schedule", "space", "file", "usage",
	}},
	{"People:", []string{"approvals", "inputs", "results", "view", "embed", "tool-session"}},
	{"Govern a tenant:", []string{"key", "role", "budget", "price", "quota", "retention", "audit", "webhook"}},
	{"Operate servers:", []string{
		"serve", "worker", "admin", "migrate", "ready", "tenant", "global", "reconcile", "purge", "deployment", "encryption",
		"payloads", "sandbox",
	}},
}

// group puts the commands under their headings.
func group(root *cobra.Command) {
	heading := make(map[string]string)
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, name := range g.commands {
			heading[name] = g.title
		}
	}
	root.SetHelpCommandGroupID(heading["help"])
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() { // Others are topics of help.
			cmd.GroupID = heading[cmd.Name()]
		}
	}
}
