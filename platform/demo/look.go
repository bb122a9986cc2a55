package demo

import (
	"context"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/store"
)

// lineWidth is where running text is broken.
const lineWidth = 100

// whereToLook says what there is to see, and how to see it again.
func (d *demo) whereToLook(ctx context.Context) {
	d.say("\n  Where to look")
	if !d.cfg.Stay {
		d.say("    all of it      make demo DEMO=--stay keeps it up: console, Temporal UI, API, commands")
		d.say("    data and log   %s; delete the folder to start afresh", d.cfg.DataDir)
		d.say("    what was run   %s", d.folder())
		return
	}
	stack := d.platform.Stack()
	d.pages()
	if ui := stack.UIURL(); ui != "" {
		d.say("    Temporal UI    %s/namespaces/%s/workflows/%s", ui, stack.Namespace(), url.PathEscape(d.run.WorkflowID))
	}
	d.say("    API            %s/openapi.json, key in %s", d.platform.URL(), d.platform.KeyFile())
	d.say("    commands       scripts/run-platform toolcrib invocations list --run %s --data %s", d.run.ID,
		stack.DataDir())
	d.say("    data and log   %s; delete the folder to start afresh", stack.DataDir())
	d.say("    what was run   %s", d.folder())
	database, err := store.CreateAppLogin(ctx, stack.DatabaseURL(), "toolcrib_demo_worker")
	if err != nil {
		d.say("\n  No login for a worker of your own: %v", err)
		return
	}
	d.say("\n  A worker of your own, as in examples/host-worker: in another terminal")
	d.say("    export TEMPORAL_ADDRESS=%s TOOLCRIB_TENANT=%s", stack.TemporalAddress(), d.platform.Tenant().ID)
	d.say("    export TOOLCRIB_SECRETS_DIR=%s TOOLCRIB_ALLOW=%s", d.company.secrets, d.company.address)
	d.say("    export TOOLCRIB_DATABASE_URL='%s'", database)
	d.say("    go run ./examples/host-worker -parcel P-1")
}

// pages prints the addresses of the console at which the demo is seen, and what it leaves to a person is answered.
func (d *demo) pages() {
	home := "/t/" + d.platform.Tenant().Slug
	in := d.platform.URL() + home
	if at := d.platform.SignInURL(); at != "" {
		at = strings.Replace(at, "/login#", "/login?to="+url.QueryEscape(home)+"#", 1)
		d.say("    console        %s (open it first: it signs a browser in, once)", at)
	} else {
		d.say("    console        %s, key in %s", d.platform.URL(), d.platform.KeyFile())
	}
	if !d.model.live {
		d.say("    your inbox     %s/inbox", in)
	}
	d.say("    the run        %s/runs/%s", in, d.run.ID)
	if d.graph != "" {
		d.say("    the graph      %s/runs/%s?tab=graph", in, d.graph)
	}
}

// wrap breaks text into lines.
func wrap(text string) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case column == 0:
		case column+1+n > lineWidth:
			b.WriteString("\n    ")
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// indent sets an error's lines apart.
func indent(err error) string {
	return "    " + strings.ReplaceAll(err.Error(), "\n", "\n    ")
}
