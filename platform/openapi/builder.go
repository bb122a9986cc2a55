package openapi

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// builder creates the tool of one operation.
type builder struct {
	*mapper
	op, item object
	path     string
	pointer  string
	out      *Operation
	tags     []string
	lost     losses

	arguments []*argument
	config    httpcall.Config
	pages     *pages            // Nil for one page.
	secrets   []secretParameter // Parameters that are credentials.
}

// argument is an argument of a call.
type argument struct {
	name     string // Of the argument.
	place    string // path, query, header, cookie or body.
	wire     string // Its name there.
	schema   any
	required bool
	field    bool // A member of a body, which is optional.
	use      func(from *httpcall.Pointer)
}

func (b *builder) build() error {
	switch {
	case b.op == nil:
		return refuse(b.pointer, "expected an object")
	case b.out.Method == http.MethodTrace:
		return refuse(b.pointer, "requests of the method TRACE are not sent")
	case strings.ContainsAny(b.path, "#?"):
		return refuse(b.pointer, "its path has a query or a fragment")
	}
	b.config = httpcall.Config{
		Method: b.out.Method, Reads: b.out.Method == http.MethodPost && b.out.named(b.opts.Reads),
	}
	server, err := b.serverOf()
	if err != nil {
		return err
	}
	for _, step := range []func() error{b.parameters, b.body} {
		if err := step(); err != nil {
			return err
		}
	}
	b.authenticate()
	b.nameArguments()
	if err := b.useArguments(server); err != nil {
		return err
	}
	b.paginate()
	b.leftOut()
	return b.spec()
}

// leftOut reports members of the operation that have no equivalent in a tool.
func (b *builder) leftOut() {
	if len(b.op.object("callbacks")) > 0 {
		b.lost.add(b.pointer+"/callbacks", "callbacks are not mapped: a tool cannot receive requests")
	}
	for _, status := range sortedKeys(b.op.object("responses")) {
		if len(b.op.object("responses").object(status).object("links")) > 0 {
			b.lost.add(b.pointer+"/responses/"+jsonpointer.Escape(status)+"/links", "links are not mapped")
		}
	}
}

// spec assembles the definition of the tool.
func (b *builder) spec() error {
	input, err := b.inputSchema()
	if err != nil {
		return err
	}
	output, err := b.outputSchema()
	if err != nil {
		return err
	}
	config, err := json.Marshal(b.config)
	if err != nil {
		return refuse(b.pointer, "its request cannot be configured: %s", err)
	}
	if err := b.checkConfig(config); err != nil {
		return refuse(b.pointer, "its request cannot be sent by an http tool: %s",
			tool.AsError(err).Msg+at(tool.AsError(err).Path))
	}
	spec := &definition.ToolSpec{Definition: tool.Definition{
		Name: b.title(), Description: b.description(), InputSchema: input, OutputSchema: output,
		Implementation: tool.HTTP, Config: config,
	}}
	if len(output) > 0 {
		spec.OutputCheck = tool.OutputWarn // Documents often describe responses inaccurately.
	}
	spec.Interaction.OpenInput = len(schema.LoosePlaces(input)) > 0 // The document does not restrict it.
	if len(b.tags) > 0 {
		spec.Category = line(b.tags[0], 60)
	}
	spec.EgressClass, spec.PermissionPolicy = tool.EgressWrite, tool.PermissionAuto
	if b.config.Reads || reads(b.out.Method) {
		spec.EgressClass, spec.Execution.Pure = tool.EgressReadOnly, b.out.Method != http.MethodOptions
		if spec.Execution.Pure {
			spec.Execution.MaxConcurrency = tool.ReadConcurrency
		}
	}
	spec.Execution.Idempotent = b.idempotent()
	spec.RequiresApproval = spec.EgressClass == tool.EgressWrite
	b.out.Spec = spec
	return nil
}

// checkConfig validates the configuration as the executor will, with a placeholder
// for a credential that was not named.
func (b *builder) checkConfig(config json.RawMessage) error {
	if err := httpcall.CheckConfig(config); err != nil || b.out.lacking == nil {
		return err
	}
	with := b.config
	auth := *b.out.lacking
	auth.CredentialsRef = "credential"
	with.Auth = &auth
	return httpcall.CheckConfig(encoded(with))
}

func (b *builder) idempotent() bool {
	return b.out.named(b.opts.Idempotent)
}

func (b *builder) title() string {
	if title := line(prose(b.op.text("summary"), MaxDescription), 80); title != "" {
		return title
	}
	if b.out.ID != "" {
		return line(b.out.ID, 80)
	}
	return line(b.out.Method+" "+b.out.Path, 80)
}

// description joins the summary and the description of an operation.
func (b *builder) description() string {
	summary, text := prose(b.op.text("summary"), MaxDescription), prose(b.op.text("description"), MaxDescription)
	if summary == "" {
		summary, text = text, ""
	}
	if summary == "" {
		summary = prose(b.item.text("summary"), MaxDescription)
	}
	if summary == "" {
		summary = "Calls " + b.out.Method + " " + line(b.out.Path, 200) + "."
	}
	switch {
	case strings.HasPrefix(text, summary):
		summary = text
	case text != "":
		summary = strings.TrimSuffix(summary, ".") + ".\n\n" + text
	}
	if b.op.flag("deprecated") {
		summary = "Deprecated. " + summary
	}
	return clean(summary, MaxDescription)
}
