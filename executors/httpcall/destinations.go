package httpcall

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// Destinations are the places to which the calls of one tool may be sent. A caller
// names one; addresses and credentials are the definition's alone.
type Destinations struct {
	// From is the argument that names the destination.
	From Pointer `json:"from"`
	// Of has the destinations by name, at most 64. Each is an object of members of
	// [Config], which stand in place of the tool's own as a whole: method, url,
	// variables, headers, query, cookies, body, body_type, auth, answer, result
	// and errors. A name is written like that of a credential.
	Of map[string]json.RawMessage `json:"of"`
}

const maxDestinations = 64

// destinationMembers are the members that a destination may have.
var destinationMembers = []string{
	"answer", "auth", "body", "body_type", "cookies", "errors", "headers", "method", "query", "result", "url", "variables",
}

// UnmarshalJSON implements [json.Unmarshaler].
func (d *Destinations) UnmarshalJSON(raw []byte) error {
	*d = Destinations{}
	return readMembers(raw, map[string]any{"from": &d.From, "of": &d.Of})
}

// names returns the names of the destinations, in order.
func (d *Destinations) names() []string { return slices.Sorted(maps.Keys(d.Of)) }

// check checks what is not checked with the configuration of each destination.
func (d *Destinations) check(object map[string]json.RawMessage) error {
	switch {
	case d.From.top() == "":
		return fault("/destinations/from", "want a pointer to the argument that names the destination")
	case len(d.Of) == 0 || len(d.Of) > maxDestinations:
		return fault("/destinations/of", fmt.Sprintf("%d destinations: want 1 to %d", len(d.Of), maxDestinations))
	}
	shared := make(map[string]int)
	for _, name := range d.names() {
		path := destinationPath(name)
		if !secret.ValidRef(name) {
			return fault(path, "want a name of letters, digits, dots, dashes and underscores")
		}
		if secret.SensitiveKey(name) {
			return fault(path, "under the name of a secret, a destination would not be shown: take another name")
		}
		own, err := readObject(d.Of[name])
		if err != nil {
			return within(path, err)
		}
		for _, member := range slices.Sorted(maps.Keys(own)) {
			if !slices.Contains(destinationMembers, member) {
				return fault(path+"/"+jsonpointer.Escape(member), strict.Unknown(member, destinationMembers))
			}
			shared[member]++
		}
	}
	for _, member := range slices.Sorted(maps.Keys(shared)) {
		if _, ok := object[member]; ok && shared[member] == len(d.Of) {
			return fault("/"+member, "every destination has its own: leave this out")
		}
	}
	return nil
}

func destinationPath(name string) string { return "/destinations/of/" + jsonpointer.Escape(name) }

// merged returns the configuration of one destination: its members, and those of
// the tool that it does not have.
func merged(object map[string]json.RawMessage, raw json.RawMessage) (Config, error) {
	own, err := readObject(raw)
	if err != nil {
		return Config{}, err
	}
	all := maps.Clone(object)
	delete(all, "destinations")
	maps.Copy(all, own)
	return decodeMembers(all)
}

// compileDestinations compiles a configuration once for each destination. Faults
// are placed where the member at fault stands.
func compileDestinations(object map[string]json.RawMessage, c *Config) (*program, error) {
	if err := c.Destinations.check(object); err != nil {
		return nil, err
	}
	p := &program{Config: *c, destinations: make(map[string]*program, len(c.Destinations.Of))}
	for _, name := range c.Destinations.names() {
		raw := c.Destinations.Of[name]
		one, err := merged(object, raw)
		if err == nil {
			p.destinations[name], err = one.compile()
		}
		if err != nil {
			f := tool.AsError(err)
			member, _, _ := strings.Cut(strings.TrimPrefix(f.Path, "/"), "/")
			if _, tools := object[member]; tools && !has(raw, member) {
				return nil, f
			}
			return nil, fault(destinationPath(name)+f.Path, f.Msg)
		}
		p.destinations[name].use(&c.Destinations.From)
	}
	return p, nil
}

func has(raw json.RawMessage, member string) bool {
	own, _ := readObject(raw) // It was read before.
	_, ok := own[member]
	return ok
}

// chosen returns the program of the destination that the arguments name; p where
// there are none.
func (p *program) chosen(args json.RawMessage) (*program, error) {
	if p.destinations == nil {
		return p, nil
	}
	name, err := p.Destinations.chosen(args)
	if err != nil {
		return nil, err
	}
	return p.destinations[name], nil
}

// chosen returns the name of the destination in the arguments. It fails with
// [tool.Invalid] where there is none of that name.
func (d *Destinations) chosen(raw json.RawMessage) (string, error) {
	args, err := readArguments(raw)
	if err != nil {
		return "", err
	}
	var name string
	given, ok := args.find(d.From)
	if ok && (kind(given) != '"' || json.Unmarshal(given, &name) != nil) {
		name = string(given)
	}
	if _, known := d.Of[name]; !known || kind(given) != '"' {
		msg := "want the name of a destination: " + strings.Join(d.names(), ", ")
		if ok {
			msg = fmt.Sprintf("%.40q is none of the destinations %s", name, strings.Join(d.names(), ", "))
		}
		return "", argument(d.From.String(), msg)
	}
	return name, nil
}

// requests returns the configurations that calls may have: one for each destination,
// in order of their names. It leaves out what cannot be parsed; [CheckConfig] reports
// the fault.
func requests(raw json.RawMessage) []Config {
	object, err := readObject(raw)
	if err != nil {
		return nil
	}
	c, err := decodeMembers(object)
	if err != nil {
		return nil
	}
	if c.Destinations == nil {
		return []Config{c}
	}
	var all []Config
	for _, name := range c.Destinations.names() {
		if one, err := merged(object, c.Destinations.Of[name]); err == nil {
			all = append(all, one)
		}
	}
	return all
}
