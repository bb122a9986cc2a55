package v1

// Page is a part of a list.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty" doc:"The cursor of the page after this one; absent on the last"`
}

// Limits of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)
