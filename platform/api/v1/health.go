package v1

// Health says whether a process can do its work.
type Health struct {
	Status string           `json:"status" enum:"ok,unavailable"`
	Checks map[string]Check `json:"checks,omitempty" doc:"What was looked at, and what was found"`
}

// Check is the result of a check of one dependency of a process.
type Check struct {
	State string  `json:"state" doc:"ok, or what is wrong"`
	AgeS  float64 `json:"age_s" doc:"For how many seconds it has been found so"`
}
