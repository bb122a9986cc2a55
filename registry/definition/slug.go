package definition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var camelCase = regexp.MustCompile(`^[a-z][a-z0-9]*([A-Z][a-z0-9]*)+$`)

// legacySlugs are slugs outside the convention that are not warned of.
var legacySlugs = []string{
	"publish_view", "submit_block_response", "amble_submit_block_response", "request_input", "generate-image",
	"retrieval_pipeline", "http_request", "function_call", "mcp_call", "web_fetch", "web_search", "json_transform",
	"datetime_utils", "enter_space", "leave_space", "send_message", "read_messages",
	"read_result", "task_status", "skip",
	"set_goals", "delete_goals", "set_memories", "delete_memories", "set_plans", "delete_plans", "get_plans",
}

// verbs are what slugs usually begin with.
var verbs = strings.Fields(`
	accept activate add aggregate analyze answer apply approve archive ask assign await book browse build calculate call cancel
	capture change charge check choose classify clear close compare compute confirm connect convert copy count create
	deactivate decide delete deliver deploy describe destroy detach detect disable disconnect dismiss display download
	draft drop edit enable enrich erase estimate evaluate execute explain export extract fetch fill filter find fix
	follow forecast format forward generate get give group handle identify import insert inspect install invite issue
	join launch leave link list load lock log look lookup make manage map mark measure merge modify move mute notify open
	order parse patch pause pay perform pick pin place plan poll post predict prepare preview process publish pull purge
	push put query quote rank read recommend record refresh refund register reject release remind remove rename render
	replace reply report request reschedule research reserve reset resolve restart resume retrieve retry return review
	revoke route run save schedule score screen search select send set share show sign sort split star start stop store
	submit subscribe suggest summarize suspend sync tag test track transfer transform translate trigger unassign unblock
	undo unfollow unlink unlock unmute unpin unset unstar unsubscribe unwatch update upgrade upload upsert validate
	verify view watch withdraw write`)

// IsVerb reports whether a word, in lower case, is one that slugs usually begin
// with.
func IsVerb(word string) bool { return slices.Contains(verbs, word) }

// CamelCase reports whether a slug is camelCase, of two words or more.
func CamelCase(slug string) bool { return camelCase.MatchString(slug) }

// SlugWarnings warns of a slug outside the convention: camelCase, a verb and then
// a noun.
func SlugWarnings(slug string) []string {
	if slices.Contains(legacySlugs, slug) {
		return nil
	}
	if !camelCase.MatchString(slug) {
		return []string{fmt.Sprintf("slug %q: expected camelCase, a verb and then a noun, such as searchOrders", slug)}
	}
	verb := slug[:strings.IndexFunc(slug, unicode.IsUpper)]
	if !IsVerb(verb) {
		return []string{
			fmt.Sprintf("slug %q: %q does not look like a verb; expected a verb and then a noun, such as searchOrders", slug,
				verb),
		}
	}
	return nil
}
