package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// methods are those of operations, in the order in which operations are
// reported.
var methods = []string{"get", "head", "options", "post", "put", "patch", "delete", "trace"}

// mapper maps the operations of a document.
type mapper struct {
	doc      *document
	tokens   map[string]bool // Parameters that authenticate most operations.
	opts     Options
	sent     *converter
	received *converter
	result   *Result

	candidates  []candidate     // All operations, unselected ones too.
	secretNames map[string]bool // Of parameters that are credentials.
	server      string          // The document's own, resolved.
}

// Map maps an OpenAPI document, JSON or YAML, to definitions of tools.
//
// It fails with tool.Invalid, whose Path is a JSON Pointer into the document or
// names an option, if the document as a whole cannot be read. When ctx ends, it
// fails with tool.Timeout or tool.Cancelled. An operation that cannot be mapped
// is no error: the result lists it.
func Map(ctx context.Context, raw []byte, opts Options) (*Result, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	doc, err := read(ctx, raw)
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	if err != nil {
		return nil, err
	}
	info := doc.root.object("info")
	version := info.text("version")
	if n, ok := info["version"].(json.Number); ok { // YAML without quotes.
		version = n.String()
	}
	m := &mapper{
		doc: doc, opts: opts, tokens: doc.tokens(), sent: newConverter(doc, sent), received: newConverter(doc, received),
	}
	m.secretNames = make(map[string]bool)
	m.result = &Result{
		Name: clean(opts.Name, 200), Title: line(info.text("title"), 200), Version: line(version, 60), OpenAPI: doc.version,
		Digest: doc.digest,
	}
	if m.result.Name == "" {
		m.result.Name = m.result.Title
	}
	if m.result.Name == "" {
		return nil, refuse("/info/title", "it has no title: set the name of the import")
	}
	if m.server, err = m.resolveServer(doc.root["servers"], "/servers"); err != nil {
		return nil, err
	}
	if err := m.operations(ctx); err != nil {
		return nil, err
	}
	if err := m.checkNames(ctx); err != nil {
		return nil, err
	}
	m.notes()
	m.unusedCredentials()
	m.result.summarize()
	return m.result, nil
}

// operations maps the operations of all paths.
func (m *mapper) operations(ctx context.Context) error {
	paths := m.doc.root.object("paths")
	if len(paths) == 0 {
		return refuse("/paths", "it has no paths, so there are no operations to import")
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if !strings.HasPrefix(path, "/") {
			continue // An extension.
		}
		pointer := "/paths/" + jsonpointer.Escape(path)
		item, at, err := m.doc.follow(paths[path], pointer)
		if err != nil {
			m.result.Notes = append(m.result.Notes, Loss{pointer, "the path is skipped: " + tool.AsError(err).Msg})
			continue
		}
		for _, method := range methods {
			if item[method] == nil {
				continue
			}
			switch {
			case len(m.result.all) >= maxAll:
				return refuse("/paths", "it has more than %d operations: split it", maxAll)
			case len(m.result.Operations) >= MaxOperations:
				return refuse("/paths", "more than %d operations are selected: import them in parts, by tag, path or method",
					MaxOperations)
			}
			if ctx.Err() != nil {
				return ended(ctx)
			}
			if err := m.one(ctx, path, method, item, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// ended returns the error of an import whose context has ended.
func ended(ctx context.Context) error {
	out := &tool.Error{
		Kind: tool.Timeout, Op: "openapi.Map", Msg: "the time did not suffice to map the whole document: import a part of it",
		Err: context.Cause(ctx),
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		out.Kind, out.Msg = tool.Cancelled, "the import was cancelled"
	}
	return out
}

// one maps an operation, or records why it cannot. It fails if the whole import
// must fail.
func (m *mapper) one(ctx context.Context, path, method string, item object, at string) error {
	op := asObject(item[method])
	out := Operation{
		ID: clean(op.text("operationId"), 200), Method: strings.ToUpper(method), Path: clean(path, 1000),
		Pointer: clip(at+"/"+method, 400), State: Skipped,
	}
	m.result.all = append(m.result.all, out.key())
	var tags []string
	for _, tag := range op.list("tags") {
		if text, ok := tag.(string); ok {
			tags = append(tags, line(text, 200))
		}
	}
	b := builder{mapper: m, op: op, item: item, path: path, pointer: at + "/" + method, out: &out, tags: tags}
	out.name, out.tags = b.slug(), tags[:min(len(tags), maxTags)]
	m.candidates = append(m.candidates, candidate{
		operation: Operation{ID: out.ID, Method: out.Method, Path: out.Path, name: out.name}, tags: tags,
	})
	if !m.opts.selects(&out, tags) {
		m.result.Unselected++
		return nil
	}
	err := b.build()
	switch {
	case ctx.Err() != nil:
		return ended(ctx)
	case errors.Is(err, errWork) || m.doc.followed >= maxFollowed:
		return refuse("", "%s", errWork)
	case err != nil:
		out.State, out.Spec, out.Reason = Skipped, nil, line(tool.AsError(err).Msg, 400)
		if tool.KindOf(err) == tool.InternalError {
			out.Reason = line(err.Error(), 400)
		}
	case len(b.lost.list) > 0:
		out.State = WithLosses
	default:
		out.State = Mapped
	}
	out.Losses = b.lost.all()
	m.result.Operations = append(m.result.Operations, out)
	return nil
}

// notes records which parts of the document as a whole have no equivalent in
// tools.
func (m *mapper) notes() {
	add := func(pointer, format string, args ...any) {
		m.result.Notes = append(m.result.Notes, Loss{pointer, fmt.Sprintf(format, args...)})
	}
	m.result.Notes = append(m.result.Notes, m.doc.notes...)
	if n := len(m.doc.root.object("webhooks")); n > 0 {
		add("/webhooks", "%d webhooks are not mapped: the API sends them, a tool cannot receive them", n)
	}
	servers := m.doc.root.list("servers")
	if _, err := strconv.Atoi(m.opts.Upstream); len(servers) > 1 && (m.opts.Upstream == "" || err == nil) {
		add("/servers", "of %d servers, %s is called", len(servers), clip(m.server, 200))
	}
}

// summarize lists the hosts that are called and the missing credentials.
func (r *Result) summarize() {
	needs := make(map[Need]int)
	hosts := make(map[string]bool)
	r.Needs = nil
	for i := range r.Operations {
		o := &r.Operations[i]
		if o.Spec == nil {
			continue
		}
		if o.needs.Scheme != "" {
			needs[o.needs]++
		}
		hosts[originOf(o.Spec.Config)] = true
	}
	r.Hosts = slices.Sorted(maps.Keys(hosts))
	for need, n := range needs {
		need.Operations = n
		r.Needs = append(r.Needs, need)
	}
	slices.SortFunc(r.Needs, func(a, b Need) int { return strings.Compare(a.Scheme+a.Kind, b.Scheme+b.Kind) })
}

// reads reports whether a method is safe, by HTTP's definition.
func reads(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

func itoa(n int) string { return strconv.Itoa(n) }
