package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/toolcrib/toolcrib/tool"
)

// constraint is a parsed version constraint.
type constraint struct {
	text  string
	rules *semver.Constraints // Nil for any release.
	also  *constraint         // Which a version must meet too; nil for none.
}

// and returns the constraint that a version meets which meets both.
func (c constraint) and(other constraint) constraint {
	switch {
	case other.rules == nil:
		return c
	case c.rules == nil:
		return other
	}
	c.also = &other
	return c
}

// String returns the constraint as people write it.
func (c constraint) String() string {
	if c.also == nil {
		return c.text
	}
	return c.text + " and " + c.also.String()
}

// maxConstraintBytes bounds the constraints of callers.
const maxConstraintBytes = 128

func parseConstraint(text string) (constraint, error) {
	if text == "" {
		return constraint{}, nil
	}
	malformed := fmt.Errorf(
		"version constraint %q: expected an exact version such as 1.2.0, a range such as ^1.2 or ~1.4.0, or none",
		text[:min(len(text), 40)],
	)
	if len(text) > maxConstraintBytes {
		return constraint{}, malformed
	}
	rules, err := semver.NewConstraint(text)
	if err != nil {
		return constraint{}, malformed
	}
	return constraint{text: text, rules: rules}, nil
}

// meets reports whether v satisfies the constraint. Prereleases do only if the constraint names
// one.
func (c constraint) meets(v *semver.Version) bool {
	if c.rules == nil {
		return v.Prerelease() == ""
	}
	return c.rules.Check(v) && (c.also == nil || c.also.meets(v))
}

// exact reports whether the constraint names one version and so pins it.
func (c constraint) exact() bool {
	_, err := semver.StrictNewVersion(c.text)
	return err == nil || c.also != nil && c.also.exact()
}

// pick chooses the version: in production the highest published one that meets
// the constraint; in debug mode any that meets it, and the head as it is when
// there is no constraint.
func pick(entry *Entry, req Request, want constraint, log *trail) (VersionInfo, bool, *tool.Error) {
	t := &entry.Tool
	if modeOf(req) == tool.Debug {
		log.pass(RulePublished, "debug mode allows drafts")
		if want.rules == nil {
			return head(entry, log)
		}
	} else {
		if t.Status == tool.Draft {
			return VersionInfo{}, false, log.refuse(RulePublished, tool.Conflict,
				fmt.Sprintf("tool %q is a draft: publish it first, or use debug mode", t.Slug))
		}
		log.pass(RulePublished, "status is %s", t.Status)
	}
	versions := entry.Versions
	if modeOf(req) == tool.Production {
		versions = offered(entry, req, want, log)
	}
	best, ok := highest(versions, want, modeOf(req) == tool.Production)
	if !ok {
		return VersionInfo{}, false, log.refuse(RuleVersion, tool.NotFound,
			nothingMeets(t, entry.Versions, want, modeOf(req)))
	}
	switch {
	case want.text != "":
		log.pass(RuleVersion, "%s is the highest of %d versions that meets %q", best.Number, len(entry.Versions), want)
	case len(entry.Versions) == 1:
		log.pass(RuleVersion, "%s is the only version", best.Number)
	default:
		log.pass(RuleVersion, "%s is the highest of %d versions", best.Number, len(entry.Versions))
	}
	return best, false, nil
}

// head returns the head as a version: the stored version that it equals, or a draft.
func head(entry *Entry, log *trail) (VersionInfo, bool, *tool.Error) {
	digest, err := tool.Snapshot{Definition: entry.Tool.Definition}.Digest()
	if err != nil {
		e := log.refuse(RuleVersion, tool.Invalid, fmt.Sprintf("the draft of tool %q has malformed JSON", entry.Tool.Slug))
		e.Err = err
		return VersionInfo{}, false, e
	}
	for _, v := range entry.Versions {
		if v.Digest == digest && v.Number == entry.Tool.Version {
			log.pass(RuleVersion, "the head equals version %s", v.Number)
			return v, false, nil
		}
	}
	v := VersionInfo{Number: draftNumber(entry.Tool.Version), Digest: digest, ReadsDeclared: entry.Tool.ReadsDeclared}
	log.pass(RuleVersion, "the unpublished head: %s", v.Number)
	return v, true, nil
}

// draftNumber is the number of a snapshot of a head that equals no version.
func draftNumber(number string) string {
	if number == "" {
		number = "0.0.0"
	}
	return number + "-draft"
}

// highest returns the highest version that meets want. Numbers that are not semantic versions
// are skipped.
func highest(versions []VersionInfo, want constraint, publishedOnly bool) (VersionInfo, bool) {
	var best VersionInfo
	var bestNumber *semver.Version
	for _, v := range versions {
		if publishedOnly && !v.Published {
			continue
		}
		number, err := semver.StrictNewVersion(v.Number)
		if err != nil || !want.meets(number) {
			continue
		}
		if bestNumber == nil || cmp.Or(number.Compare(bestNumber), strings.Compare(v.Number, best.Number)) > 0 {
			best, bestNumber = v, number
		}
	}
	return best, bestNumber != nil
}

// nothingMeets returns the message that lists the existing versions, newest
// first.
func nothingMeets(t *tool.Tool, versions []VersionInfo, want constraint, mode tool.Mode) string {
	var numbers []*semver.Version
	for _, v := range versions {
		if number, err := semver.StrictNewVersion(v.Number); err == nil && (v.Published || mode == tool.Debug) {
			numbers = append(numbers, number)
		}
	}
	slices.SortFunc(numbers, func(a, b *semver.Version) int { return b.Compare(a) })
	var texts []string
	for i, n := range numbers {
		if i == 5 {
			texts = append(texts, "…")
			break
		}
		texts = append(texts, n.String())
	}
	kind := "published version"
	if mode == tool.Debug {
		kind = "version"
	}
	msg := fmt.Sprintf("tool %q has no %s", t.Slug, kind)
	if want.text != "" {
		msg += " that meets " + want.String()
	}
	if len(texts) > 0 {
		msg += " (there are " + strings.Join(texts, ", ") + ")"
	}
	return msg
}
