// Package programs finds the server programs of PostgreSQL on a machine, says
// how to install them where they are missing, and can download them.
//
// It runs no server, and knows nothing of clusters.
package programs
