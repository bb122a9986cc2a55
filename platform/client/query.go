package client

import (
	"net/url"
	"strconv"
	"time"
)

// Page says which part of a list is wanted. The zero Page is the first.
type Page struct {
	Cursor string // Next of the page before.
	Limit  int    // 50 when zero, at most 200.
}

// params builds the query of a request; empty values are left out.
type params url.Values

func (p params) text(name, value string) params {
	if value != "" {
		url.Values(p).Set(name, value)
	}
	return p
}

func (p params) number(name string, value int64) params {
	if value != 0 {
		url.Values(p).Set(name, strconv.FormatInt(value, 10))
	}
	return p
}

func (p params) time(name string, value time.Time) params {
	if !value.IsZero() {
		url.Values(p).Set(name, value.UTC().Format(time.RFC3339Nano))
	}
	return p
}

func (p params) page(page Page) url.Values {
	return url.Values(p.text("cursor", page.Cursor).number("limit", int64(page.Limit)))
}
