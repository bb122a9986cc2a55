package payload

import (
	"context"
	"fmt"
	"strings"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// Bounds of looking at open workflows.
const (
	openPage  = 200
	openPages = 10
)

// Use is how many open workflows have a memo that is encrypted by a key; an empty key stands for none.
type Use struct {
	Key       string `json:"key"`
	Workflows int    `json:"workflows"`
	Example   string `json:"example"` // The id of the one that started last.
}

// Uses counts the open workflows of a task queue by the key of their memo, the latest 2000. Those
// without a memo, such as child workflows, do not count.
func Uses(ctx context.Context, c client.Client, namespace, queue string) ([]Use, error) {
	var uses []Use
	count := func(key, workflowID string) {
		for i := range uses {
			if uses[i].Key == key {
				uses[i].Workflows++
				return
			}
		}
		uses = append(uses, Use{Key: key, Workflows: 1, Example: workflowID})
	}
	var next []byte
	for range openPages {
		page, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: namespace, PageSize: openPage, NextPageToken: next,
			Query: fmt.Sprintf("ExecutionStatus = 'Running' AND TaskQueue = '%s'", strings.ReplaceAll(queue, "'", "''")),
		})
		if err != nil {
			return nil, fmt.Errorf("listing open workflows: %w", err)
		}
		for _, w := range page.GetExecutions() {
			for _, p := range w.GetMemo().GetFields() {
				count(KeyOf(p), w.GetExecution().GetWorkflowId())
				break // All of a memo are encrypted alike.
			}
		}
		if next = page.GetNextPageToken(); len(next) == 0 {
			break
		}
	}
	return uses, nil
}

// CheckOpen fails with tool.Unavailable where an open workflow of a task queue needs a key that is
// not in the keyring: a worker without it would fail the workflow's tasks, and use up attempts of its
// activities. Where Temporal does not list workflows, it fails with that error.
func CheckOpen(ctx context.Context, c client.Client, namespace, queue string, keys *Keyring) error {
	uses, err := Uses(ctx, c, namespace, queue)
	if err != nil {
		return err
	}
	for _, use := range uses {
		if _, ok := keys.find(use.Key); use.Key != "" && !ok {
			lacking := missing(use.Key)
			lacking.Msg += "; open workflows of this task queue need it, such as " + use.Example
			return lacking
		}
	}
	return nil
}
