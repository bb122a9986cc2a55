// Package offboard writes what a tenant has to an export, verifies exports, and erases tenants: in
// Temporal, in stores of objects and in the database. It acts for operators, with the login of the
// database's owner, and knows neither servers nor workers.
package offboard
