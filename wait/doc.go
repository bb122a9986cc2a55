// Package wait is the contract of calls that wait for a decision or an outside result: what is asked, who may
// answer, and how it ends. It knows neither SQL nor Temporal; package store implements
// [Approvals].
package wait
