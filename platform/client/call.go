package client

import (
	"context"
	"net/http"
	"net/url"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// call calls the endpoint at path, elements below /v1, and decodes its answer.
func call[T any](
	ctx context.Context, c *Client, method string, query url.Values, body any, path ...string,
) (out T, err error) {
	err = c.do(ctx, request{method: method, path: path, query: query, body: body}, &out)
	return out, err
}

func get[T any](ctx context.Context, c *Client, query url.Values, path ...string) (T, error) {
	return call[T](ctx, c, http.MethodGet, query, nil, path...)
}

// list gets a page of a list.
func list[T any](ctx context.Context, c *Client, query url.Values, path ...string) (v1.Page[T], error) {
	return get[v1.Page[T]](ctx, c, query, path...)
}

// items gets a list that has one page.
func items[T any](ctx context.Context, c *Client, query url.Values, path ...string) ([]T, error) {
	page, err := list[T](ctx, c, query, path...)
	return page.Items, err
}

func post[T any](ctx context.Context, c *Client, body any, path ...string) (T, error) {
	return call[T](ctx, c, http.MethodPost, nil, body, path...)
}

func put[T any](ctx context.Context, c *Client, body any, path ...string) (T, error) {
	return call[T](ctx, c, http.MethodPut, nil, body, path...)
}

func remove[T any](ctx context.Context, c *Client, path ...string) (T, error) {
	return call[T](ctx, c, http.MethodDelete, nil, nil, path...)
}
