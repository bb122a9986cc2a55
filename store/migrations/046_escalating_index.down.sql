drop index approvals_escalating;
