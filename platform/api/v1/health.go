package v1

// Health is the readiness of a process.
type Health struct {
	Status string           `json:"status" enum:"ok,unavailable"`
	Checks map[string]Check `json:"checks,omitempty" doc:"The checks, by name"`
}

// Check is the result of a check of one dependency of a process.
type Check struct {
	State string  `json:"state" doc:"ok, or a description of the fault"`
	AgeS  float64 `json:"age_s" doc:"For how many seconds the state has lasted"`
}
