package v1

import "encoding/json"

// NewDiff asks what applying a definition would change.
type NewDiff struct {
	Definition json.RawMessage `json:"definition" doc:"Definition of a tool"`
	From       string          `json:"from,omitempty" maxLength:"100" doc:"Number of the version to compare with, or draft; the last release when absent"`
}

// Diff lists the differences between two contents of a tool, and which version
// number they require.
type Diff struct {
	Tool    string   `json:"tool"`
	From    string   `json:"from,omitempty" doc:"Number of a version, or draft; absent when there is nothing to compare with"`
	To      string   `json:"to" doc:"Number of a version, draft, or definition"`
	Number  string   `json:"number" doc:"The number that to has"`
	Bump    string   `json:"bump" enum:"none,patch,minor,major" doc:"The part of the number that the changes demand to be raised; below 1.0.0 a minor raise does for a major change"`
	Least   string   `json:"least_version,omitempty" doc:"The least number that to may have; absent when any will do"`
	Enough  bool     `json:"enough" doc:"Whether number will do"`
	Refusal string   `json:"refusal,omitempty" doc:"Why number will not do"`
	Changes []Change `json:"changes"`
}

// Change is one difference.
type Change struct {
	Path   string `json:"path" doc:"The value that is meant: input/… and output/… for arguments and answers, with * for any item, and fields of the definition"`
	Bump   string `json:"bump" enum:"none,patch,minor,major"`
	Reason string `json:"reason"`
}
