package httpcall

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// program is a checked configuration, ready to run. It is immutable.
type program struct {
	Config
	template   *template
	references int             // To arguments.
	used       map[string]bool // Arguments that the URL, headers, cookies and query use.
	whole      bool            // One of them uses all arguments.
	body       payloader       // Nil without one, and where the unused arguments are sent.
	result     *node           // Nil unless the configuration has one.
	rest       restTo          // Where unused arguments are sent.

	destinations map[string]*program // By name; calls are those of one of them. Nil without.
}

// restTo is where the arguments go that a configuration does not use.
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
	object, err := readObject(raw)
	if err != nil {
		return nil, err
	}
	c, err := decodeMembers(object)
	if err != nil {
		return nil, err
	}
	if c.Destinations != nil {
		return compileDestinations(object, &c)
	}
	return c.compile()
}

// compile compiles a configuration whose calls go to its URL.
func (c *Config) compile() (*program, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := &program{Config: *c, used: make(map[string]bool)}
	var err error
	if p.template, err = parseTemplate(c.URL); err != nil {
		return nil, err
	}
	if err := p.useVariables(); err != nil {
		return nil, err
	}
	for _, values := range []Values{c.Headers, c.Query, c.Cookies} {
		for _, v := range values {
			p.use(v.From)
		}
	}
	if err := p.compileBody(); err != nil {
		return nil, err
	}
	if len(c.Result) > 0 && !isNull(c.Result) {
		var result bodyReader
		if p.result, err = result.read("/result", c.Result, 0, false); err != nil {
			return nil, err
		}
		if result.references > maxReferences {
			return nil, fault("/result", fmt.Sprintf("%d references: at most %d", result.references, maxReferences))
		}
	}
	if n := p.references + p.template.references; n > maxReferences {
		return nil, fault("", fmt.Sprintf("%d references to arguments: at most %d", n, maxReferences))
	}
	return p, nil
}

// useVariables records the arguments that the URL uses.
func (p *program) useVariables() error {
	for _, name := range p.Variables.names() {
		if !slices.Contains(p.template.names, name) {
			return fault("/variables/"+jsonpointer.Escape(name), "the URL has no variable of this name")
		}
		p.use(p.Variables[name].From)
	}
	for _, name := range p.template.names {
		if _, ok := p.Variables[name]; ok {
			continue
		}
		p.used[name] = true
		top, _, _ := strings.Cut(name, ".")
		p.used[top] = true
	}
	return nil
}

// compileBody compiles the body, and decides where unused arguments are sent.
func (p *program) compileBody() error {
	switch {
	case len(p.Body) > 0:
		body, references, err := compileBody(&p.Config)
		if err != nil {
			return err
		}
		p.body = body
		p.references += references
	case p.BodyType == bodyMultipart || p.BodyType == bodyRaw:
		return fault("/body", "want what is sent: only json and form send the arguments that nothing else uses")
	case p.mayHaveBody() && p.Method != http.MethodDelete:
		p.rest = restToBody
	case len(p.Query) == 0:
		p.rest = restToQuery
	}
	return nil
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

// unused returns the names of the arguments that the configuration does not use.
func (p *program) unused(args *arguments) []string {
	if p.whole {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(args.names), func(name string) bool { return p.used[name] })
}

func messageOf(err error) string { return tool.AsError(err).Msg }
