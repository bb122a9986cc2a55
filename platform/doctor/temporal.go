package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/wire"
)

// attributes are what runs are found by.
var attributes = wire.SearchAttributes()

// temporal looks at the server, then at what lies behind it.
func temporal(ctx context.Context, cfg Config) []Finding {
	address := cmp.Or(cfg.Temporal.HostPort, client.DefaultHostPort)
	namespace := cmp.Or(cfg.Temporal.Namespace, client.DefaultNamespace)
	f := Finding{Check: "temporal", Status: OK, Found: "answers at " + address}
	c, err := client.DialContext(ctx, cfg.Temporal)
	if err != nil {
		f.Found = "no answer at " + address
		if _, refused := errors.AsType[*serviceerror.PermissionDenied](err); refused {
			f.Found = address + " refuses the credentials"
		}
		f.Status, f.Mend = Fail, "start that server, or set TEMPORAL_ADDRESS to another"
		if !cfg.TemporalNamed {
			f.Status, f.Mend = Warn, "toolcrib dev"
		}
		return []Finding{f}
	}
	defer c.Close()
	found := []Finding{f, namespaceKnown(ctx, c, address, namespace)}
	if found[1].Status == Fail {
		return found
	}
	return append(found, searchAttributes(ctx, c, address, namespace), workers(ctx, c, namespace, cfg.TaskQueue))
}

func namespaceKnown(ctx context.Context, c client.Client, address, namespace string) Finding {
	f := Finding{Check: "temporal namespace", Status: OK, Found: namespace}
	_, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	if _, missing := errors.AsType[*serviceerror.NamespaceNotFound](err); missing {
		f.Status, f.Found = Fail, fmt.Sprintf("the namespace %q does not exist", namespace)
		f.Mend = fmt.Sprintf("temporal operator namespace create --namespace %s --address %s", namespace, address)
	} else if err != nil {
		f.Status, f.Found = Warn, fmt.Sprintf("the namespace %q cannot be described: %v", namespace, err)
		f.Mend = "give these credentials the right to describe the namespace"
	}
	return f
}

func searchAttributes(ctx context.Context, c client.Client, address, namespace string) Finding {
	f := Finding{Check: "search attributes", Status: OK, Found: strings.Join(attributes, ", ")}
	have, err := c.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		f.Status, f.Found = Warn, fmt.Sprintf("the namespaces cannot be listed: %v", err)
		f.Mend = "give these credentials the right to list search attributes"
		return f
	}
	missing := slices.DeleteFunc(slices.Clone(attributes), func(name string) bool {
		_, ok := have.GetCustomAttributes()[name]
		return ok
	})
	if len(missing) == 0 {
		return f
	}
	f.Status, f.Found = Warn, strings.Join(missing, ", ")+" missing: runs are not found by them"
	f.Mend = fmt.Sprintf("temporal operator search-attribute create --namespace %s --address %s", namespace, address)
	for _, name := range missing {
		f.Mend += " --name " + name + " --type Keyword"
	}
	return f
}

func workers(ctx context.Context, c client.Client, namespace, queue string) Finding {
	f := Finding{Check: "workers", Status: OK}
	polled, err := c.DescribeTaskQueue(ctx, queue, enums.TASK_QUEUE_TYPE_WORKFLOW)
	switch {
	case err != nil:
		f.Status, f.Found = Warn, fmt.Sprintf("the pollers of the task queue %q cannot be listed: %v", queue, err)
		f.Mend = "give these credentials the right to describe task queues"
	case len(polled.GetPollers()) == 0:
		f.Status, f.Found = Fail, fmt.Sprintf("no worker polls the task queue %q in %s: runs wait", queue, namespace)
		f.Mend = "toolcrib worker --task-queue " + queue
	default:
		f.Found = fmt.Sprintf("%d on the task queue %q", len(polled.GetPollers()), queue)
	}
	return f
}
