package cli_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/budget"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
	"github.com/toolcrib/toolcrib/toolset"
	"github.com/toolcrib/toolcrib/usage"
	"github.com/toolcrib/toolcrib/view"
	"github.com/toolcrib/toolcrib/wait"
)

// operandWord is a name of an operand in the first line of a command's help.
var operandWord = regexp.MustCompile(`\b[A-Z]{2,}\b`)

// notOfATenant are the commands with operands that name nothing which a tenant has, and why.
var notOfATenant = map[string]string{
	"apply": "reads files", "tool apply": "reads files", "tool import openapi": "reads a file",
	"tool import definitions": "reads files", "graph import": "reads a file", "graph validate": "reads files",
	"file upload": "makes a file", "key create": "makes a key", "admin token": "makes a token of an operator",
	"artifact create": "makes an artifact", "pipeline create": "makes a pipeline", "role create": "makes a role",
	"schedule create": "makes a schedule", "space create": "makes a space", "toolset create": "makes a toolset",
	"webhook create": "makes a webhook", "mcp attach": "makes a server",
	"credential set": "makes a credential, or replaces it",
	"profile set":    "makes a profile, or replaces it", "budget set": "makes a budget, or replaces it",
	"mcp config": "names a program", "context add": "is of this computer", "context remove": "is of this computer",
	"context show": "is of this computer", "context use": "is of this computer", "settings": "is of this computer",
	"tool register": "reads files", "export": "writes files",
	"quota set": "is for operators", "quota unset": "is for operators", "quota show": "names a kind",
	"global apply": "is for operators", "global delete": "is for operators", "global deprecate": "is for operators",
	"global disable": "is for operators", "global enable": "is for operators", "global publish": "is for operators",
	"global show": "is for operators", "global version": "is for operators",
	"ready": "names a server", "encryption new-key": "makes a file", "payloads new-key": "makes a file",
	"payloads decode": "reads a file", "tenant export verify": "reads a file",
	"search":        "answers with a list, which has nothing of other tenants",
	"tenant create": "is for operators", "tenant limit": "is for operators", "tenant suspend": "is for operators",
	"tenant resume": "is for operators", "tenant export": "is for operators", "tenant erase": "is for operators",
	"retention set": "is for operators", "retention unset": "is for operators", "deployment show": "is for operators",
	"deployment set-current": "is for operators", "deployment ramp": "is for operators",
	"deployment drain": "is for operators", "embed allow": "names the pages of another site",
}

// furtherArguments are what commands need behind the name. FILE and QUESTIONS are files that there are.
var furtherArguments = map[string][]string{
	"approvals grant":    {"--uses", "1"},
	"artifact upload":    {"FILE"},
	"credential rotate":  {"--from-file", "FILE"},
	"embed token":        {"--origin", "https://shop.example.com", "--caller", "customer-7"},
	"graph diff":         {"FILE"},
	"graph run":          {"--args", "{}"},
	"mcp approve":        {"read"},
	"mcp update":         {"--name", "x"},
	"pipeline add":       {"FILE"},
	"pipeline evaluate":  {"QUESTIONS"},
	"pipeline reembed":   {"--url", "https://example.com/v1", "--model", "x", "--dimensions", "3", "--no-wait"},
	"pipeline remove":    {"x"},
	"pipeline search":    {"words"},
	"pipeline update":    {"--name", "x"},
	"results submit":     {"--result", "1"},
	"role change":        {"--add", "runs.read"},
	"run say":            {"hello"},
	"run start":          {"--input", "x"},
	"schedule backfill":  {"--from", "2026-01-01T00:00:00Z", "--until", "2026-01-02T00:00:00Z"},
	"schedule update":    {"--every", "5m"},
	"space add":          {"person:user:eve"},
	"space notes delete": {"goal", "a"},
	"space notes show":   {"goal", "a"},
	"space post":         {"hello"},
	"space remove":       {"person:user:eve"},
	"space update":       {"--name", "x"},
	"tool call":          {"--args", "{}"},
	"tool canary start":  {"1.0.0", "--share", "10"},
	"tool override set":  {"--off"},
	"tool rename":        {"newName"},
	"tool version":       {"2.0.0"},
	"toolset set":        {"--name", "x"},
	"webhook replay":     {"01987a3c-0000-7000-8000-000000000001"},
	"webhook update":     {"--description", "x"},
}

// unseeded are the commands that show something of a kind that the seed has not: a graph, a note, a
// request for input, a gate.
var unseeded = map[string]bool{
	"graph show": true, "space notes show": true, "inputs show": true,
	"tool gate show": true,
}

// seedTheirs makes one of everything in another tenant, and returns names by the words of operands, or
// by a group of commands and the word, and commands with the key of that tenant.
func seedTheirs(t *testing.T, s *shell) (names map[string]string, owner *shell) {
	t.Helper()
	f := storetest.NewFixture(t, s.Database)
	theirs := *s
	theirs.vars = maps.Clone(s.vars)
	theirs.vars[cli.KeyVariable] = s.Key(t, f.Tenant, "*")
	ctx := t.Context()
	call := f.Lone(t)
	f.Admit(t, call, true, true)
	names = map[string]string{
		"TOOL": f.Tool.Slug, "AGENT": f.Agent.Slug, "RUN": f.Run.ID, "INVOCATION": call.InvocationID,
		"CALL":     call.InvocationID,
		"APPROVAL": f.Ask(t, f.Request(t, f.Lone(t))).ID, "GRANT": f.Grant(t, "user:bob", nil).ID,
		"WEBHOOK": f.Webhook(t, nil).ID, "SCHEDULE": f.Schedule(t, "theirSchedule", nil).Name,
		"file FILE": f.File(t, nil).ID, "SPACE": f.Space(t, "their-space").Slug, "GRAPH": f.Tool.Slug,
		"graph FROM":      f.Tool.Slug,
		"credential NAME": s.Credential(t, f.Tenant, "their-credential").Ref,
		"toolset TOOLSET": "their-toolset", "PIPELINE": "theirPipeline", "SERVER": "their-files", "ARTIFACT": "theirArtifact",
		"budget NAME": "their-budget", "profile NAME": "their-profile", "role NAME": "their-role",
	}
	offered := f.Offered(t, func(*wait.Offer) {})
	names["results CALL"], names["REQUEST"] = offered.ID, offered.ID
	key, _, err := s.Store.CreateKey(ctx, store.Key{Tenant: f.Tenant, Name: "theirs"})
	require.NoError(t, err)
	names["KEY"] = key.ID
	price, err := s.Store.SetPrice(ctx, usage.Price{Tenant: f.Tenant, ToolID: f.Tool.ID, Call: 1})
	require.NoError(t, err)
	names["PRICE"] = price.ID
	entries, err := s.Store.ListAudit(ctx, f.Tenant, audit.Query{Limit: 1})
	require.NoError(t, err)
	names["ENTRY"] = entries[0].ID
	_, err = s.Store.SetPublishing(ctx, f.Tenant, true)
	require.NoError(t, err)
	shown, err := s.Store.CreateView(ctx, view.View{
		Tenant: f.Tenant, ID: storetest.NewID(t), Kind: view.Tool, Title: "theirs",
		VersionIdentity: tool.VersionIdentity{ToolID: f.Tool.ID, Slug: f.Tool.Slug, Version: "1.0.0", Digest: "d"},
	}, make([]byte, 32), time.Hour)
	require.NoError(t, err)
	names["VIEW"] = shown.ID
	session, err := s.Store.CreateToolSession(ctx, toolsession.Session{
		Tenant: f.Tenant, ID: storetest.NewID(t), Title: "theirs",
		VersionIdentity: tool.VersionIdentity{ToolID: f.Tool.ID, Slug: f.Tool.Slug, Version: "1.0.0", Digest: "d"},
	})
	require.NoError(t, err)
	names["SESSION"], names["ORIGIN"] = session.ID, f.EmbedOrigin(t).ID
	_, err = s.Store.SetBudget(ctx, budget.Budget{
		Tenant: f.Tenant, Name: names["budget NAME"], Period: budget.Day, Limit: 1000,
	})
	require.NoError(t, err)
	_, err = s.Store.CreateProfile(ctx, profile.Profile{
		Tenant: f.Tenant, Profile: tool.Profile{Name: names["profile NAME"], RequiresApproval: true},
	})
	require.NoError(t, err)
	_, err = s.Store.CreateRole(ctx, store.Role{
		Role: access.Role{Name: names["role NAME"], Permissions: []string{"runs.read"}}, Tenant: f.Tenant,
	})
	require.NoError(t, err)
	_, err = s.Store.CreateToolset(ctx, toolset.Toolset{Tenant: f.Tenant, Slug: names["toolset TOOLSET"]})
	require.NoError(t, err)
	_, err = s.Store.CreateServer(ctx, mcpserver.Server{
		Tenant: f.Tenant, Slug: names["SERVER"], Status: definition.ServerActive,
	})
	require.NoError(t, err)
	_, err = s.Store.CreatePipeline(ctx, retrieval.Pipeline{
		Tenant: f.Tenant, Slug: names["PIPELINE"], Name: "theirs", Search: retrieval.FullText,
		Language: retrieval.DefaultLanguage,
	})
	require.NoError(t, err)
	uploaded, err := s.Store.CreateArtifact(ctx, artifact.Artifact{
		Tenant: f.Tenant, Slug: names["ARTIFACT"], Language: "jq", Status: definition.ArtifactActive,
	})
	require.NoError(t, err)
	_, _, err = s.Store.AddArtifactVersion(ctx, uploaded, artifact.Version{Number: "1.0.0"}, []byte("."))
	require.NoError(t, err)
	return names, &theirs
}

// unlike is a name like another that nothing has.
func unlike(name string) string {
	end := name[len(name)-3:]
	if end == "fff" {
		return name[:len(name)-3] + "000"
	}
	return name[:len(name)-3] + "fff"
}

// Every command that takes the name of something answers what is another tenant's as it answers what does
// not exist. A command with an operand that is not known here fails.
func TestForeignTenantByCommands(t *testing.T) {
	t.Parallel()

	s := setup(t)
	names, owner := seedTheirs(t, s)
	given := map[string]string{
		"FILE":      s.write(t, "given.md", "words"),
		"QUESTIONS": s.write(t, "questions.yaml", "questions: [{ask: what, in: {document: x}}]"),
	}
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	tried, exempt := 0, map[string]bool{}
	for _, cmd := range tree(quiet()) {
		path := strings.TrimPrefix(cmd.CommandPath(), "toolcrib ")
		words := operandWord.FindAllString(operandsOf(cmd), -1)
		if len(words) == 0 || !cmd.Runnable() {
			continue
		}
		if notOfATenant[path] != "" {
			exempt[path] = true
			continue
		}
		group, _, _ := strings.Cut(path, " ")
		name, known := names[group+" "+words[0]]
		if !known {
			name, known = names[words[0]]
		}
		if !known {
			fault("%s: seed what %s names, or say in notOfATenant why it names nothing of a tenant", path, words[0])
			continue
		}
		run := func(s *shell, name string) ended {
			args := append(strings.Fields(path), name)
			args = append(args, furtherArguments[path]...)
			for i, arg := range args {
				if given[arg] != "" {
					args[i] = given[arg]
				}
			}
			got := s.run(t, args...)
			got.out, got.err = strings.ReplaceAll(got.out, name, "X"), strings.ReplaceAll(got.err, name, "X")
			return got
		}
		theirs, none := run(s, name), run(s, unlike(name))
		if theirs != none {
			fault("%s: theirs: %+v; none: %+v", path, theirs, none)
		}
		if theirs.code != cli.ExitNotFound {
			fault("%s %s ended with %d: %s%s", path, name, theirs.code, theirs.out, theirs.err)
		}
		// The names are right: the owner finds what is shown.
		if shows := cmd.Name() == "show" || cmd.Name() == "get"; shows && !unseeded[path] {
			if got := run(owner, name); got.code != cli.ExitOK {
				fault("%s %s by its owner ended with %d: %s%s", path, name, got.code, got.out, got.err)
			}
		}
		tried++
	}
	for path := range notOfATenant {
		if !exempt[path] {
			fault("%s: notOfATenant has it, and there is no such command with operands", path)
		}
	}
	slices.Sort(faults)
	require.Empty(t, faults, strings.Join(faults, "\n"))
	require.Greater(t, tried, 60)
}

// operandsOf is the first line of a command's help without its name and flags.
func operandsOf(cmd *cobra.Command) string {
	_, operands, _ := strings.Cut(cmd.Use, " ")
	operands, _, _ = strings.Cut(operands, " --")
	return operands
}
