// Package press stands in for the two places to which examples/publishing publishes: a blog with the part of
// WordPress's REST API that makes posts, and a newsroom that takes articles by webhook.
package press
