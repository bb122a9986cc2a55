package openapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/registry/definition"
)

// Verbs by the kind of request that they describe. Strong ones are never nouns, so
// they are recognised as verbs at any position in the operation's id.
var (
	readingStrong = strings.Fields(`get list search find fetch retrieve read lookup describe compare download query browse`)
	readingVerbs  = append(strings.Fields(`
		analyze calculate check classify compute convert count detect diff display estimate evaluate explain export extract filter
		forecast format generate identify inspect load measure parse ping poll predict preview quote rank recommend render report
		resolve review score screen select show sort summarize test track translate validate verify view watch`),
		readingStrong...)
	deletingVerbs = strings.Fields(`
		archive cancel clear close delete destroy detach disable disconnect dismiss drop erase expire leave purge reject release
		remove reset revoke stop terminate unassign unblock unfollow unlink unlock unmute unpin unset unstar unsubscribe unwatch withdraw`)
	deletingStrong = strings.Fields(`delete remove destroy revoke cancel clear purge dismiss detach`)
	creatingStrong = strings.Fields(`
		create insert add send submit upload invite generate register approve enable disable merge render start stop cancel delete remove
		revoke move copy import publish upgrade activate deactivate restart`)
	// plainVerbs are not nouns at the end of a name either.
	plainVerbs     = strings.Fields(`get list create delete remove update`)
	changingStrong = strings.Fields(`
		update patch replace set edit modify change put upsert add enable disable assign merge move rename restore approve lock
		unlock follow unfollow`)
)

// verbsOf returns the verbs that fit a request of a method: strong ones, and a
// function for the others.
func verbsOf(method string) (strong []string, may func(verb string) bool) {
	known := func(word string) bool {
		return definition.IsVerb(word) || slices.Contains(readingVerbs, word) || slices.Contains(deletingVerbs, word)
	}
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return readingStrong, func(word string) bool { return slices.Contains(readingVerbs, word) }
	case http.MethodDelete:
		return deletingStrong, func(word string) bool { return slices.Contains(deletingVerbs, word) }
	case http.MethodPut, http.MethodPatch:
		return changingStrong, func(word string) bool {
			return known(word) && !slices.Contains(readingStrong, word) && !slices.Contains(deletingStrong, word)
		}
	default:
		return creatingStrong, known
	}
}

// slug returns the preferred name of an operation's tool: a verb and then a
// noun, in camelCase. The verb is the one in the operation's id if it fits the
// method: a DELETE never gets a verb that reads or creates. Otherwise the verb
// of the method is put first.
func (b *builder) slug() string {
	words := splitWords(b.out.ID)
	if len(words) == 0 {
		words = b.wordsOfPath()
	} else {
		words = b.verbFirst(words)
	}
	if b.opts.Prefix != "" {
		words = append([]string{b.opts.Prefix}, words...)
	}
	return camel(words)
}

// verbFirst puts the verb of an operation's id before its other words.
func (b *builder) verbFirst(words []string) []string {
	strong, may := verbsOf(b.out.Method)
	at := slices.IndexFunc(words, func(word string) bool { return slices.Contains(strong, word) })
	last := len(words) - 1
	switch {
	case at >= 0:
	case may(words[0]):
		at = 0
	case last > 0 && misleads(words[0], b.out.Method):
		words = words[1:]
	default:
		at = slices.IndexFunc(words, may)
	}
	if at > 0 && words[0] == "post" && b.out.Method == http.MethodPost { // PostInvoicesInvoiceSend includes the method.
		words, at = words[1:], at-1
	}
	if at >= 0 { // users_list becomes listUsers.
		return append([]string{words[at]}, slices.Delete(slices.Clone(words), at, at+1)...)
	}
	if last := len(words) - 1; last > 0 && slices.Contains(plainVerbs, words[last]) {
		words = words[:last]
	}
	return append([]string{b.methodVerb()}, words...)
}

// misleads reports whether a verb contradicts the method of a request.
func misleads(verb, method string) bool {
	reading, deleting := slices.Contains(readingStrong, verb), slices.Contains(deletingStrong, verb)
	switch {
	case reads(method):
		return deleting || slices.Contains(creatingStrong, verb) || slices.Contains(changingStrong, verb)
	case method == http.MethodDelete:
		return reading || slices.Contains(creatingStrong, verb) || slices.Contains(changingStrong, verb)
	default:
		return reading || deleting
	}
}

// methodVerb returns the verb of a method.
func (b *builder) methodVerb() string {
	segments := strings.Split(strings.Trim(b.path, "/"), "/")
	if b.out.Method == http.MethodGet && strings.Contains(segments[len(segments)-1], "{") {
		return "get"
	}
	return map[string]string{
		http.MethodGet: "list", http.MethodHead: "check", http.MethodOptions: "describe", http.MethodPost: "create",
		http.MethodPut: "replace", http.MethodPatch: "update", http.MethodDelete: "delete",
		http.MethodTrace: "trace",
	}[b.out.Method]
}
