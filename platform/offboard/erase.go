package offboard

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Held is what there is of a tenant: what an erasure would delete, or what is left of it.
type Held struct {
	Rows      []store.TableRows `json:"rows"`
	Contents  map[string]int64  `json:"contents"` // In stores of objects, by their locations.
	Workflows int64             `json:"workflows"`
	Open      int64             `json:"open_workflows"` // Of these.
	Schedules int64             `json:"schedules"`
}

// None reports whether there is nothing.
func (h Held) None() bool {
	return len(h.Rows) == 0 && len(h.Contents) == 0 && h.Workflows == 0 && h.Schedules == 0
}

// Look counts what there is of a tenant, in the database, in Temporal and in stores of objects by the
// record.
func Look(ctx context.Context, cfg Config, tenant tool.TenantID, slug string) (h Held, err error) {
	if h.Rows, err = cfg.Store.TenantRows(ctx, tenant); err != nil {
		return h, err
	}
	if h.Contents, err = cfg.Store.CountContents(ctx, tenant); err != nil {
		return h, err
	}
	err = cfg.eachWorkflow(ctx, tenant, slug, func(info *workflowpb.WorkflowExecutionInfo) error {
		h.Workflows++
		if info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
			h.Open++
		}
		return nil
	})
	if err != nil {
		return h, err
	}
	err = cfg.eachSchedule(ctx, tenant, func(string) error {
		h.Schedules++
		return nil
	})
	return h, err
}

// contentPage is how many contents of stores of objects are deleted between two looks.
const contentPage = 200

// Erase deletes all that there is of a suspended tenant, and returns the record that stays. First its
// keys are destroyed; then goes what could begin workflows; then schedules and workflows in Temporal,
// contents in stores of objects, and all rows. It may be interrupted anywhere, and finishes when it
// is called again. It fails with tool.NotFound, with tool.Conflict where the tenant is not suspended,
// and before anything is deleted with tool.Invalid where a store of objects is not given.
func Erase(ctx context.Context, cfg Config, tenant tool.TenantID) (store.Erasure, error) {
	counts, err := cfg.Store.CountContents(ctx, tenant)
	if err != nil {
		return store.Erasure{}, err
	}
	for location := range counts {
		if _, err := cfg.contents(location); err != nil {
			return store.Erasure{}, err
		}
	}
	e, err := cfg.Store.BeginErasure(ctx, tenant)
	if err != nil {
		return e, err
	}
	cfg.step("destroying keys")
	if e.FinishedAt == nil {
		if err := cfg.Store.DestroyTenantKeys(ctx, tenant); err != nil {
			return e, err
		}
	}
	for _, next := range []func(context.Context, Config, store.Erasure) error{
		eraseStarts, eraseSchedules, eraseWorkflows, eraseContents, eraseRows,
	} {
		if err := next(ctx, cfg, e); err != nil {
			return e, err
		}
	}
	return cfg.Store.FinishErasure(ctx, tenant)
}

func (c *Config) rows(only []string) store.EraseRows {
	how := c.Rows
	how.Only = only
	how.Deleted = func(n store.TableRows) { c.step("deleting rows of %s", n.Table) }
	return how
}

func eraseStarts(ctx context.Context, cfg Config, e store.Erasure) error {
	return cfg.Store.EraseRows(ctx, e.Tenant, cfg.rows(store.StartTables()))
}

func eraseSchedules(ctx context.Context, cfg Config, e store.Erasure) error {
	cfg.step("deleting schedules")
	var n int64
	err := cfg.eachSchedule(ctx, e.Tenant, func(id string) error {
		err := cfg.Temporal.ScheduleClient().GetHandle(ctx, id).Delete(ctx)
		if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
			return nil
		}
		if err != nil {
			return unavailable("deleting schedule "+id, err)
		}
		n++
		return nil
	})
	return errors.Join(err, cfg.note(ctx, e, store.Erased{Schedules: n}))
}

func (c *Config) note(ctx context.Context, e store.Erasure, n store.Erased) error {
	return c.Store.NoteErased(ctx, e.Tenant, n)
}

const (
	// workflowPasses bounds how often workflows are listed until there are none: Temporal deletes them
	// in the background, and lists them a moment later.
	workflowPasses = 120
	passInterval   = 500 * time.Millisecond
)

// eraseWorkflows terminates what runs and deletes all executions, until none is listed.
func eraseWorkflows(ctx context.Context, cfg Config, e store.Erasure) error {
	cfg.step("deleting workflows")
	for pass := range workflowPasses {
		var listed, deleted int64
		err := cfg.eachWorkflow(ctx, e.Tenant, e.Slug, func(info *workflowpb.WorkflowExecutionInfo) error {
			listed++
			gone, err := cfg.deleteWorkflow(ctx, info)
			if !gone && err == nil && pass == 0 {
				deleted++
			}
			return err
		})
		if err := errors.Join(err, cfg.note(ctx, e, store.Erased{Workflows: deleted})); err != nil {
			return err
		}
		if listed == 0 && pass > 0 { // Once more, for what began meanwhile.
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(passInterval):
		}
	}
	return &tool.Error{
		Kind: tool.Unavailable, Op: "offboard",
		Msg: "Temporal has not deleted all workflows yet: repeat the erasure in a while",
	}
}

// deleteWorkflow terminates an execution that runs, and deletes it.
func (c *Config) deleteWorkflow(ctx context.Context, info *workflowpb.WorkflowExecutionInfo) (gone bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	id, run := info.GetExecution().GetWorkflowId(), info.GetExecution().GetRunId()
	if info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		err := c.Temporal.TerminateWorkflow(ctx, id, run, "the tenant is erased")
		if _, ended := errors.AsType[*serviceerror.NotFound](err); err != nil && !ended {
			return false, unavailable("terminating workflow "+id, err)
		}
	}
	_, err = c.Temporal.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: c.Namespace, WorkflowExecution: info.GetExecution(),
	})
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
		return true, nil
	}
	if err != nil {
		return false, unavailable("deleting workflow "+id, err)
	}
	return false, nil
}

// eraseContents deletes files, and the contents that they leave in stores of objects.
func eraseContents(ctx context.Context, cfg Config, e store.Erasure) error {
	if err := cfg.Store.EraseRows(ctx, e.Tenant, cfg.rows(store.FileTables())); err != nil {
		return err
	}
	for {
		left, err := cfg.Store.LeftContents(ctx, e.Tenant, contentPage)
		if err != nil || len(left) == 0 {
			return err
		}
		cfg.step("deleting contents of files")
		for _, content := range left {
			at, err := cfg.contents(content.Location)
			if err != nil {
				return err
			}
			if err := at.Delete(ctx, content.Ref); err != nil {
				return unavailable("deleting the content of file "+content.ID, err)
			}
			if err := cfg.Store.DropLeftContent(ctx, content.Ref); err != nil {
				return err
			}
			if err := cfg.note(ctx, e, store.Erased{Objects: 1}); err != nil {
				return err
			}
		}
	}
}

func eraseRows(ctx context.Context, cfg Config, e store.Erasure) error {
	return cfg.Store.EraseRows(ctx, e.Tenant, cfg.rows(nil))
}
