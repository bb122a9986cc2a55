// Package dev runs the whole platform in one process on the embedded stack:
// PostgreSQL, Temporal and its UI, the HTTP API, and a worker.
//
//	d, err := dev.Start(ctx, dev.Config{})
//	if err != nil {
//		return err
//	}
//	defer d.Stop(context.WithoutCancel(ctx))
//	c, err := client.New(client.Config{Server: d.URL(), Key: d.Key()})
//
// On the first start it makes a tenant and a key that may do anything in it.
// It is for development, demonstrations and tests; the assembly is that of the
// product's own processes, from package serve.
//
// Below it are the parts of the stack: embedded runs PostgreSQL and Temporal,
// programs finds or downloads PostgreSQL's programs, folder checks the data
// folder, and ports names the process that listens on a port. Package devcmd is
// the command "toolcrib dev".
package dev
