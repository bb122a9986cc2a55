package api

import (
	"errors"
	"strconv"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry/definition"
)

// Changing is the condition of a change. It is exported as [Paging] is.
type Changing struct {
	IfMatch string `header:"If-Match" maxLength:"1000" doc:"Changes the resource only if it still has this ETag, or one of several; without it, unconditionally"`
}

// Reading is the condition of a read. It is exported as [Paging] is.
type Reading struct {
	IfNoneMatch string `header:"If-None-Match" maxLength:"1000" doc:"Answers 304, without a body, if the resource still has this ETag, or one of several"`
}

// etag identifies the state of a resource. Its id is part of it, since a slug
// may later name another resource.
func etag(id string, revision int64) string {
	return `"` + id + "." + strconv.FormatInt(revision, 10) + `"`
}

// names reports whether a list of tags has a resource's tag. "*" matches any
// resource. A weak tag never matches for a change.
func names(list, tag string, weak bool) bool {
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if weak {
			item = strings.TrimPrefix(item, "W/")
		}
		if item == "*" || item == tag {
			return true
		}
	}
	return false
}

// unchanged reports whether the reader has the state of this tag already.
func (c Reading) unchanged(tag string) bool {
	return c.IfNoneMatch != "" && names(c.IfNoneMatch, tag, true)
}

// conditional returns the registry that makes a change under its condition: it
// also refuses the change if another writer makes one after this read.
func conditional[R interface{ At(revision int64) R }](c Changing, r R, id string, revision int64) (R, error) {
	if c.IfMatch == "" {
		return r, nil
	}
	if !names(c.IfMatch, etag(id, revision), false) {
		var none R
		return none, preconditionFailed()
	}
	return r.At(revision), nil
}

// failed returns the error of a failed change.
func (c Changing) failed(err error) error {
	if c.IfMatch != "" && errors.Is(err, definition.ErrChanged) {
		return preconditionFailed()
	}
	return err
}

func preconditionFailed() *v1.Problem {
	return refusal(
		v1.PreconditionFailed,
		"it no longer matches If-Match: it was changed meanwhile; read it again, then decide",
	)
}
