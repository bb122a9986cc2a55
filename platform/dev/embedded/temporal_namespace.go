package embedded

import (
	"context"
	"fmt"
	"maps"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/toolcrib/toolcrib/wire"
)

// searchAttributes are what Toolcrib's workflows are found by.
var searchAttributes = func() map[string]enums.IndexedValueType {
	all := make(map[string]enums.IndexedValueType)
	for _, name := range wire.SearchAttributes() {
		all[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
	}
	return all
}()

// ensureNamespace waits until the server knows the namespace, and adds the
// search attributes that a database of an earlier release lacks.
func (t *Temporal) ensureNamespace(ctx context.Context) error {
	c, err := client.DialContext(ctx, client.Options{
		HostPort:  t.Address(),
		Namespace: t.cfg.Namespace,
		Logger:    sdklog.NewStructuredLogger(t.cfg.Logger),
	})
	if err != nil {
		return fmt.Errorf("connecting to Temporal: %w", err)
	}
	defer c.Close()
	have, err := c.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: t.cfg.Namespace})
	if err != nil {
		return fmt.Errorf("listing search attributes: %w", err)
	}
	missing := maps.Clone(searchAttributes)
	maps.DeleteFunc(missing, func(name string, _ enums.IndexedValueType) bool {
		_, ok := have.GetCustomAttributes()[name]
		return ok
	})
	if len(missing) == 0 {
		return nil
	}
	if _, err := c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: t.cfg.Namespace, SearchAttributes: missing,
	}); err != nil {
		return fmt.Errorf("adding search attributes: %w", err)
	}
	return nil
}
