package httpcall

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// program is a checked configuration, ready to run. It is immutable.
type program struct {
	Config
	template   *template
	references int             // To arguments, from headers and query.
	used       map[string]bool // Arguments that the URL, headers and query use.
	whole      bool            // One of them uses all arguments.
	headers    []string        // Names in order, so that equal calls make equal requests.
	query      []string
	body       *node  // Nil unless the configuration has one.
	rest       restTo // Where arguments used nowhere else go.
}

// restTo says where the arguments go that a configuration does not mention.
type restTo int

const (
	restNowhere restTo = iota
	restToBody
	restToQuery
)

func compile(raw json.RawMessage) (*program, error) {
	if len(raw) > maxConfigBytes {
		return nil, fault("", fmt.Sprintf("%d bytes: at most %d", len(raw), maxConfigBytes))
	}
	c, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	p := &program{
		Config: c, used: make(map[string]bool),
		headers: slices.Sorted(maps.Keys(c.Headers)), query: slices.Sorted(maps.Keys(c.Query)),
	}
	if p.template, err = parseTemplate(c.URL); err != nil {
		return nil, err
	}
	for _, name := range p.template.names {
		p.used[name] = true
		top, _, _ := strings.Cut(name, ".")
		p.used[top] = true
	}
	for _, name := range p.headers {
		p.use(c.Headers[name].From)
	}
	for _, name := range p.query {
		p.use(c.Query[name].From)
	}
	var body bodyReader
	switch {
	case len(c.Body) > 0:
		if p.body, err = body.read("/body", c.Body, 0, false); err != nil {
			return nil, err
		}
	case c.mayHaveBody() && c.Method != http.MethodDelete:
		p.rest = restToBody
	case len(c.Query) == 0:
		p.rest = restToQuery
	}
	if n := p.references + body.references + p.template.references; n > maxReferences {
		return nil, fault("", fmt.Sprintf("%d references to arguments: at most %d", n, maxReferences))
	}
	return p, nil
}

func (p *program) use(ptr *Pointer) {
	if ptr == nil {
		return
	}
	p.references++
	switch {
	case ptr.top() == "":
		p.whole = true
	default:
		p.used[ptr.top()] = true
	}
}

// unused returns the names of the arguments that go to the rest.
func (p *program) unused(args *arguments) []string {
	if p.whole {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(args.names), func(name string) bool { return p.used[name] })
}

func messageOf(err error) string { return tool.AsError(err).Msg }
