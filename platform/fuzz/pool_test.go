package fuzz_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// pool is what was learnt from answers: the names of things, by what they are
// the names of, and the values that fields had. It is safe for concurrent use.
type pool struct {
	mu      sync.Mutex
	names   map[string]map[string][]string // By tenant, then by noun: ids and slugs.
	values  map[string]map[string][]string // By tenant, then by the name of the field.
	owners  map[string]map[string]bool     // Ids, and which tenants were shown them.
	secrets []string                       // Returned once, and never to be returned again.
	spared  map[string]bool                // Ids that nothing may be done to.
}

func newPool(actors []actor, global []string) *pool {
	p := &pool{
		names: map[string]map[string][]string{}, values: map[string]map[string][]string{},
		owners: map[string]map[string]bool{}, spared: map[string]bool{},
	}
	for _, a := range actors {
		p.spared[a.keyID] = true
		for _, id := range global {
			p.own(id, string(a.tenant))
		}
		if a.key != "" {
			p.secrets = append(p.secrets, a.key)
		}
	}
	return p
}

var (
	idPattern    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	placePattern = regexp.MustCompile(`(?m)^id: (\S+)$`) // In a stream.
	// madeUp are ids that requests name and that do not exist: an answer that
	// echoes one discloses nothing.
	madeUp = regexp.MustCompile(`^(0{8}|f{8}|01900000-0000-7000-8000-)`)
)

// limits of what is kept: what is newer is more interesting.
const keptNames, keptValues = 200, 60

// learn takes in the answer to a request.
func (p *pool) learn(o *operation, who actor, body []byte) {
	var v any
	if who.tenant == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	tenant := string(who.tenant)
	for _, id := range idPattern.FindAllString(string(body), -1) {
		p.own(id, tenant)
	}
	for _, m := range placePattern.FindAllSubmatch(body, -1) {
		p.value(tenant, "place", string(m[1]))
	}
	if json.Unmarshal(body, &v) != nil {
		return
	}
	things := []any{v}
	if items := list(object(v)["items"]); items != nil {
		things = items
	}
	// The name of a thing is the id of what /v1/things and /v1/things/{id} answer with.
	if parts := o.names(); len(parts) == 1 || len(parts) == 2 && strings.HasPrefix(parts[1], "{") {
		for _, thing := range things {
			noun := o.noun()
			if action := text(object(thing)["action"]); action != "" { // An applied definition.
				if noun = text(object(thing)["kind"]) + "s"; action == "failed" || action == "skipped" {
					continue
				}
			}
			p.name(tenant, noun, text(object(thing)["id"]))
			p.name(tenant, noun, text(object(thing)["slug"]))
		}
	}
	p.walk(tenant, v)
}

func (p *pool) own(id, tenant string) {
	if p.owners[id] == nil {
		p.owners[id] = map[string]bool{}
	}
	p.owners[id][tenant] = true
}

// walk learns the values of fields, and what they are the names of.
func (p *pool) walk(tenant string, v any) {
	switch v := v.(type) {
	case node:
		for _, name := range sorted(v) {
			value := v[name]
			if s, ok := value.(string); ok && len(s) < 400 {
				if noun, ok := strings.CutSuffix(name, "_id"); ok {
					p.name(tenant, noun+"s", s)
				}
				if name == "secret" {
					p.secrets = append(p.secrets, s)
					continue
				}
				p.value(tenant, name, s)
			}
			if name != "input_schema" && name != "output_schema" && name != "structured" {
				p.walk(tenant, value)
			}
		}
	case []any:
		for _, value := range v[:min(len(v), 20)] {
			p.walk(tenant, value)
		}
	}
}

func (p *pool) value(tenant, name, value string) {
	if p.values[tenant] == nil {
		p.values[tenant] = map[string][]string{}
	}
	p.values[tenant][name] = keep(p.values[tenant][name], value, keptValues)
}

func (p *pool) name(tenant, noun, name string) {
	if name == "" || p.spared[name] {
		return
	}
	if p.names[tenant] == nil {
		p.names[tenant] = map[string][]string{}
	}
	p.names[tenant][noun] = keep(p.names[tenant][noun], name, keptNames)
}

func keep(all []string, one string, limit int) []string {
	if slices.Contains(all, one) {
		return all
	}
	if len(all) >= limit {
		all = slices.Delete(all, limit/4, limit/4+1) // The first stay: they are the fuzzer's own.
	}
	return append(all, one)
}

// of returns the names that a tenant has for a noun.
func (p *pool) of(tenant, noun string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.names[tenant][noun])
}

// had returns the values that fields of the name had for a tenant.
func (p *pool) had(tenant, name string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.values[tenant][name])
}

// belongsToOthers reports whether other tenants were shown an id, and this one
// never was.
func (p *pool) belongsToOthers(tenant, id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	owners := p.owners[id]
	return len(owners) > 0 && !owners[tenant] && !madeUp.MatchString(id)
}

// told returns a secret that the answer holds and the request does not.
func (p *pool) told(body, request []byte) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, secret := range append(slices.Clone(p.secrets), plantedSecret) {
		if bytes.Contains(body, []byte(secret)) && !bytes.Contains(request, []byte(secret)) {
			return secret
		}
	}
	return ""
}
