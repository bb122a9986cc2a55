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
	accept activate add adjust aggregate allocate analyze answer append apply approve archive ask assess assign attach
	await backup ban bid book broadcast browse build calculate call cancel capture change charge check choose classify
	clear click close collect combine commit compare complete compute configure confirm connect consume contact convert
	copy count crawl create deactivate decide decline decode decrypt define delete deliver deploy describe destroy detach
	detect disable disconnect discover dismiss dispatch display download draft drop edit enable encode encrypt enrich
	enroll erase escalate estimate evaluate exchange execute expand expire explain export extract fetch fill filter find
	fix flag follow forecast format forward generate get give grant greet group handle hide highlight identify import
	inform ingest initiate insert inspect install invite invoke issue join launch learn leave lend link lint list load
	lock log look lookup make manage map mark measure merge migrate mint modify monitor move mute notify observe offer
	open order parse patch pause pay perform pick pin ping place plan poll post predict prepare preview print probe
	process promote propose provision publish pull purge push put query quote rank rate read rebuild recalculate receive
	recommend record redeem reduce refresh refund register reindex reject relay release reload remind remove rename
	render renew reopen repair replace reply report request reschedule research reserve reset resolve respond restart
	restock restore resume retrieve retry return review revoke rotate route run sample save scale scan schedule score
	scrape screen search select send set share ship show sign solve sort split star start stop store submit subscribe
	suggest sum summarize suspend swap switch sync tag terminate test track train transfer transform translate trigger
	trim try unarchive unassign unban unblock undo unfollow unlink unlock unmute unpin unset unstar unsubscribe unwatch
	update upgrade upload upsert use validate verify view vote wait wake warn watch withdraw write`)

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
