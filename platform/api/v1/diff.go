package v1

import "encoding/json"

// NewDiff requests the changes that applying a definition would make.
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
	Number  string   `json:"number" doc:"The number of to"`
	Bump    string   `json:"bump" enum:"none,patch,minor,major" doc:"The part of the number that must be raised; below 1.0.0 raising the minor suffices for a major change"`
	Least   string   `json:"least_version,omitempty" doc:"The least number that to may have; absent if any suffices"`
	Enough  bool     `json:"enough" doc:"Whether number is high enough"`
	Refusal string   `json:"refusal,omitempty" doc:"Why number is not high enough"`
	Changes []Change `json:"changes"`
}

// Change is one difference.
type Change struct {
	Path   string `json:"path" doc:"The value: input/… and output/… for arguments and answers, with * for any item, and fields of the definition"`
	Bump   string `json:"bump" enum:"none,patch,minor,major"`
	Reason string `json:"reason"`
}
