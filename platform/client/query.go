package client

import (
	"fmt"
	"net/url"
	"reflect"
	"time"
)

// Page says which part of a list is wanted. The zero Page is the first.
type Page struct {
	Cursor string // Next of the page before.
	Limit  int    // 50 when zero, at most 200.
}

func (p Page) query(pairs ...any) url.Values {
	return query(append(pairs, "cursor", p.Cursor, "limit", p.Limit)...)
}

// query builds the query of a request from names and their values; zero values
// are left out.
func query(pairs ...any) url.Values {
	out := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, value := fmt.Sprint(pairs[i]), pairs[i+1]
		if reflect.ValueOf(value).IsZero() {
			continue
		}
		if at, ok := value.(time.Time); ok {
			value = at.UTC().Format(time.RFC3339Nano)
		}
		out.Set(name, fmt.Sprint(value))
	}
	return out
}
