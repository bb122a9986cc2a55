package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// CallExplanation is the account of a call that happened: how its tool was resolved, what was
// changed in its arguments, why it was allowed or asked for, who decided, when it was tried,
// and how it ended.
type CallExplanation struct {
	ID      string                `json:"id" doc:"That of the call's invocation" example:"01975c2e-7d1a-7c3e-9f00-0000000000e1"`
	RunID   string                `json:"run_id,omitempty" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1"`
	Tool    string                `json:"tool" example:"refundOrder"`
	Version string                `json:"version,omitempty" example:"1.2.0"`
	Digest  string                `json:"digest,omitempty"`
	Status  tool.InvocationStatus `json:"status" enum:"pending,approved,running,waiting,completed,failed,rejected,cancelled,expired,unknown"`
	Steps   []CallStep            `json:"steps" doc:"In the order in which they happened"`
}

// CallStage is the part of a call's life that a step belongs to.
type CallStage string

// Stages of a call, in their usual order.
const (
	StageResolve  CallStage = "resolve"  // The tool's version was chosen.
	StageCoerce   CallStage = "coerce"   // The arguments were made to fit the input schema.
	StageLane     CallStage = "lane"     // Where the call is run.
	StagePolicy   CallStage = "policy"   // It was allowed, or needs an approval.
	StageApproval CallStage = "approval" // It was asked for, decided, or expired.
	StageAttempt  CallStage = "attempt"  // It was tried.
	StageOutside  CallStage = "outside"  // It was offered to clients, or a client answered.
	StageWarning  CallStage = "warning"  // Something that people should know.
	StageEffect   CallStage = "effect"   // What the ledger has recorded.
	StageEnd      CallStage = "end"      // It ended.
	StageWaits    CallStage = "waits"    // It has not ended.
)

// CallStep is one step of a call.
type CallStep struct {
	Stage  CallStage  `json:"stage" enum:"resolve,coerce,lane,policy,approval,attempt,outside,warning,effect,end,waits"`
	At     *time.Time `json:"at,omitempty" doc:"Absent for what has no time of its own"`
	Detail string     `json:"detail" example:"attempt 1 was started"`
	By     string     `json:"by,omitempty" doc:"Subject that decided or answered" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d2"`
}
