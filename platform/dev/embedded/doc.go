// Package embedded runs what Toolcrib stands on, inside and beside the calling
// process: a private PostgreSQL cluster from the binaries this machine has,
// and a Temporal server with its UI on a file database.
//
//	stack, err := embedded.Start(ctx, embedded.Config{})
//	if err != nil {
//		return err
//	}
//	defer stack.Stop(context.WithoutCancel(ctx))
//
// Everything lives in one data folder, which one process at a time may use.
// Nothing listens beyond loopback, a port that is taken is replaced by a free
// one, and a folder whose process was killed is taken over as it is. It is for
// development, demonstrations and tests: Temporal has one node and no
// authorization, and PostgreSQL is reached as its superuser.
//
// The package knows nothing of what runs on the stack: no schema, no worker.
package embedded
