package offboard

import (
	"context"
	"fmt"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

const (
	pageRows       = 200
	requestTimeout = 30 * time.Second
)

// workflowQuery finds the executions of a tenant by their ids, which begin with its segment.
func workflowQuery(tenant tool.TenantID, slug string) string {
	prefix := func(segment string) string {
		return fmt.Sprintf("WorkflowId STARTS_WITH '%s%s/'", wire.WorkflowPrefix, segment)
	}
	return prefix(wire.TenantSegment(tenant, "")) + " OR " + prefix(wire.TenantSegment(tenant, slug))
}

// eachWorkflow calls fn for each execution of a tenant, as Temporal lists them.
func (c *Config) eachWorkflow(
	ctx context.Context, tenant tool.TenantID, slug string, fn func(*workflowpb.WorkflowExecutionInfo) error,
) error {
	var token []byte
	for {
		page, err := c.listPage(ctx, workflowQuery(tenant, slug), token)
		if err != nil {
			return unavailable("listing workflows", err)
		}
		for _, info := range page.GetExecutions() {
			if of, ours := wire.TenantOf(info.GetExecution().GetWorkflowId()); !ours || of != tenant {
				continue
			}
			if err := fn(info); err != nil {
				return err
			}
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			return nil
		}
	}
}

func (c *Config) listPage(
	ctx context.Context, query string, token []byte,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return c.Temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: c.Namespace, PageSize: pageRows, Query: query, NextPageToken: token,
	})
}

// eachSchedule calls fn for each schedule of a tenant that Temporal has.
func (c *Config) eachSchedule(ctx context.Context, tenant tool.TenantID, fn func(id string) error) error {
	all, err := c.Temporal.ScheduleClient().List(ctx, client.ScheduleListOptions{PageSize: pageRows})
	if err != nil {
		return unavailable("listing schedules", err)
	}
	for all.HasNext() {
		next, err := all.Next()
		if err != nil {
			return unavailable("listing schedules", err)
		}
		if of, ours := wire.TenantOf(next.ID); ours && of == tenant {
			if err := fn(next.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func unavailable(doing string, err error) error {
	return &tool.Error{Kind: tool.Unavailable, Op: "offboard", Msg: fmt.Sprintf("%s: %v", doing, err), Err: err}
}
