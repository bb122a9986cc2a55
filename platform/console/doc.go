// Package console serves the pages that people with an account use. They are built from web, with
// Node.js, and the result is committed in dist: building and running the platform needs neither.
//
// The pages ask the API alone, with the session of the browser, and hold no data of their own.
package console
