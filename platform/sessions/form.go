package sessions

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/platform/publicform"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
)

// Fields returns the form of a session, without what the session fixes.
func Fields(session *toolsession.Session, d *tool.Definition) (publicform.Form, error) {
	fixed, err := session.Fixed()
	if err != nil {
		return publicform.Form{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	return publicform.Of(d.InputSchema, fixed) //nolint:wrapcheck // As above.
}

// known fails with tool.Invalid for fixed inputs that the tool does not have.
func known(inputSchema json.RawMessage, fixed map[string]json.RawMessage) error {
	if len(fixed) == 0 {
		return nil
	}
	read, err := field.Read(inputSchema)
	if err != nil {
		return fmt.Errorf("reading an input schema: %w", err)
	}
	if read.Open {
		return nil
	}
	for name := range fixed {
		if !slices.ContainsFunc(read.Fields, func(f field.Field) bool { return f.Key == name }) {
			return invalid("/config/"+publicform.Pointer(name), "the tool has no input %.80q", name)
		}
	}
	return nil
}

// checkForm fails with tool.Invalid for a form that is not shown to people without an account.
func checkForm(session *toolsession.Session, d *tool.Definition) error {
	form, err := Fields(session, d)
	if err != nil {
		return err
	}
	if key := form.Missing(); key != "" {
		return invalid("/config", "the page of a link does not ask for %q, which the tool requires: "+
			"fix it in the configuration",
			key)
	}
	if publicform.AsksSecret(session.Title) {
		return invalid("/title", "the title asks for a secret: a page of ours never does")
	}
	if key := form.Secret(); key != "" {
		return invalid("/tool", "the field %q asks for a secret, such as a password or a card number: "+
			"a page of ours never does",
			key)
	}
	return nil
}
