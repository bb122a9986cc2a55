package summary

import (
	"errors"
	"fmt"
	"slices"
)

// CheckCitations returns what is wrong with claims, all of it: there is none, one rests on nothing,
// or on an entity that is not among the sources.
func CheckCitations(claims []Claim, sources []Entity) error {
	if len(claims) == 0 {
		return errors.New("there is no claim")
	}
	var faults []error
	for i, c := range claims {
		if c.Text == "" {
			faults = append(faults, fmt.Errorf("claim %d says nothing", i+1))
		}
		if len(c.Sources) == 0 {
			faults = append(faults, fmt.Errorf("claim %d rests on no entity", i+1))
		}
		for _, id := range c.Sources {
			if !slices.ContainsFunc(sources, func(e Entity) bool { return e.ID == id }) {
				faults = append(faults, fmt.Errorf("claim %d rests on %q, which is not an entity of the engagement", i+1, id))
			}
		}
	}
	return errors.Join(faults...)
}
