package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

const shopYAML = `openapi: 3.1.0
info: {title: Shop, version: "7"}
servers: [{url: "https://{region}.shop.example.com", variables: {region: {default: eu}}}]
security: [{key: []}]
components: {securitySchemes: {key: {type: http, scheme: bearer}}}
paths:
  /orders/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {operationId: getOrder, summary: Get an order, responses: {"200": {description: It.}}}
    put: {operationId: putOrder, summary: Put an order, callbacks: {done: {}}, requestBody: {content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}, responses: {"204": {description: Done.}}}
    trace: {responses: {}}
webhooks: {shipped: {}}
`

func TestImportOpenAPI(t *testing.T) {
	t.Parallel()
	s := setup(t)
	file := s.write(t, "shop.yaml", shopYAML)
	require.Equal(t, `METHOD  PATH          TOOL      VERSION  RESULT                                                                                           LOSSES
GET     /orders/{id}  getOrder  1.0.0    would be created                                                                                 –
PUT     /orders/{id}  putOrder  1.0.0    would be created                                                                                 1
TRACE   /orders/{id}                     skipped: the document at /paths/~1orders~1{id}/trace: requests of the method TRACE are not sent  –

Shop 7 (OpenAPI 3.1.0): 2 operations mapped, 1 of them with losses, 1 skipped, 0 not selected
the tools call https://us.shop.example.com
2 operations need a credential that holds a token: --credential key=NAME
1 webhooks are not mapped: the API sends them, a tool cannot receive them
1 of the tools write: each call of them needs an approval
lost in 1 operations: callbacks are not mapped: a tool cannot receive requests
nothing was written: --apply writes the drafts
`, s.ok(t, "tool", "import", "openapi", file, "--variable", "region=us"))
	require.Equal(t, cli.ExitNotFound, s.run(t, "tool", "show", "getOrder").code)

	require.Contains(
		t, s.ok(t, "tool", "import", "openapi", file, "--apply", "--credential", "key=shop", "--operation", "getOrder"),
		"getOrder  1.0.0    created ",
	)
	require.Contains(t, s.ok(t, "tool", "show", "getOrder"), "https://eu.shop.example.com/orders/{id}")
	require.Contains(t, s.ok(t, "tool", "import", "openapi", file, "--apply", "--except-method", "PUT"),
		"getOrder  1.0.0    unchanged")

	got := s.pipe(t, shopYAML, "tool", "import", "openapi", "-", "--upstream", "https://other.example.com/v2")
	require.Equal(t, cli.ExitOK, got.code, got.err)
	require.Contains(t, got.out, "would be updated")
	require.Contains(t, got.out, "getOrder: from draft to the definition (1.0.0)")
	require.Contains(t, got.out, "implementation_config/url")

	var shown struct {
		DryRun     bool `json:"dry_run"`
		Operations []struct{ Tool, Action string }
	}
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "tool", "import", "openapi", file, "--json", "--losses")), &shown))
	require.True(t, shown.DryRun)
	require.Len(t, shown.Operations, 3)
	require.Contains(t, s.ok(t, "tool", "import", "openapi", file, "--losses"),
		"PUT /orders/{id}: /paths/~1orders~1{id}/put/callbacks: callbacks are not mapped")
}

func TestImportOpenAPIFaults(t *testing.T) {
	t.Parallel()
	s := setup(t)
	file := s.write(t, "shop.yaml", shopYAML)
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no file":       {[]string{"missing.yaml"}, cli.ExitNotFound, "there is no file"},
		"an address":    {[]string{"https://shop.example.com/openapi.json"}, cli.ExitUsage, "fetch the document yourself"},
		"a credential":  {[]string{file, "--credential", "key"}, cli.ExitUsage, "--credential takes SCHEME=NAME"},
		"a variable":    {[]string{file, "--variable", "=x"}, cli.ExitUsage, "--variable takes NAME=VALUE"},
		"swagger":       {[]string{s.write(t, "old.json", `{"swagger":"1.2"}`)}, cli.ExitInvalid, "it is Swagger 1.2"},
		"auth":          {[]string{file, "--auth", "bearer:x=shop"}, cli.ExitUsage, "--auth takes bearer=NAME"},
		"auth nameless": {[]string{file, "--auth", "header=shop"}, cli.ExitUsage, "--auth takes bearer=NAME"},
		"nothing":       {nil, cli.ExitUsage, "needs a file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := s.run(t, append([]string{"tool", "import", "openapi"}, c.args...)...)
			require.Equal(t, c.code, got.code, got.out+got.err)
			require.Contains(t, got.err, c.want)
		})
	}
	s.ok(t, "apply", "-f", s.write(t, "get.yaml", "slug: getOrder\nimplementation_type: internal\n"))
	got := s.run(t, "tool", "import", "openapi", file, "--apply")
	require.Equal(t, cli.ExitConflict, got.code, got.out+got.err)
	require.Contains(t, got.out, "set a prefix for the import")
}
