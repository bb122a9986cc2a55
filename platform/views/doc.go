// Package views publishes views, serves their pages, and takes the responses that MCP clients submit to requests for
// input.
//
// A page shows one result, or one tool, to people without a login who have its link. It displays only: it has no
// form and no script, GET and HEAD are its methods, it loads nothing from anywhere and no cache keeps it. A token
// that is unknown, expired or revoked, and one of a tool that is disabled, are answered alike.
package views
