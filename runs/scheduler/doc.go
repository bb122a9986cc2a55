// Package scheduler runs agents by schedules. [Service] holds the use cases of schedules, and
// keeps Temporal's schedules equal to their records; [Starter] begins the run of a time.
//
// The record in PostgreSQL is written first. The process that wrote it then tells Temporal; where
// that fails, or the process dies, any server does so later. Each schedule is compared with
// Temporal's again every [CheckInterval], so that one that was lost or changed there is mended. A
// schedule of Temporal without a record deletes itself at its next time.
//
// A time of a schedule starts a workflow, toolcrib.ScheduledRun, which records a run as a request
// to the API would, with the authority that the schedule's maker has at that moment, starts its
// workflow as a child, and lasts as long.
package scheduler
