package openapi

import "context"

// budget bounds the work on a document.
type budget struct {
	ctx      context.Context //nolint:containedctx // A document is read within one call of Map.
	followed int             // References and schemas that were visited.
}

// spend counts a step. It fails with errWork after too many, or when ctx has
// ended.
func (b *budget) spend() error {
	b.followed++
	if b.followed > maxFollowed || b.followed%1024 == 0 && b.ctx.Err() != nil {
		b.followed = maxFollowed // All later steps fail too.
		return errWork
	}
	return nil
}

// maxComposed bounds the nesting of allOf.
const maxComposed = 6

// composed calls visit once for a schema and for each schema that it is
// composed of by allOf, directly or through others: a document may name one
// many times. raw is the schema as written, o the object that it refers to, and
// at the pointer of o.
//
// It reports whether all were visited. It stops with false where visit returns
// false, where a reference cannot be followed, or where schemas are nested
// deeper than maxComposed; with lenient, it skips the latter two and continues.
func (d *document) composed(
	raw any, pointer string, lenient bool, visit func(raw any, o object, at string) bool,
) bool {
	seen := make(map[string]bool)
	var walk func(raw any, pointer string, depth int) bool
	walk = func(raw any, pointer string, depth int) bool {
		o, at, err := d.follow(raw, pointer)
		if err != nil || depth > maxComposed {
			return lenient
		}
		if seen[at] {
			return true
		}
		seen[at] = true
		if !visit(raw, o, at) {
			return false
		}
		for i, part := range o.list("allOf") {
			if !walk(part, at+"/allOf/"+itoa(i), depth+1) {
				return false
			}
		}
		return true
	}
	return walk(raw, pointer, 0)
}
