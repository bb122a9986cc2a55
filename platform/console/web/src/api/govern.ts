import { queryOptions } from "@tanstack/react-query";
import { call, type Query } from "./client";
import { at, list, one, type List } from "./queries";
import type { components } from "./schema";

// What the pages of routes/govern ask.

type Schemas = components["schemas"];
export type Meta = Schemas["Meta"];
export type UsageReport = Schemas["UsageReport"];
export type Usage = Schemas["Usage"];
export type Budget = Schemas["Budget"];
export type Price = Schemas["Price"];
export type Quota = Schemas["Quota"];
export type AuditEntry = Schemas["AuditEntry"];
export type AuditReport = Schemas["AuditReport"];
export type Key = Schemas["Key"];
export type CreatedKey = Schemas["CreatedKey"];
export type Role = Schemas["Role"];
export type Person = Schemas["Person"];
export type Tenant = Schemas["Tenant"];
export type PublishGate = Schemas["PublishGate"];
export type Webhook = Schemas["Webhook"];
export type WebhookSecret = Schemas["WebhookSecret"];
export type Delivery = Schemas["Delivery"];
export type Schedule = Schemas["Schedule"];
export type ScheduleTimes = Schemas["ScheduleTimes"];
export type ScheduleStart = Schemas["ScheduleStart"];
type Invocation = Schemas["Invocation"];

// meta is of no tenant.
export const meta = (t: string) =>
  queryOptions({ queryKey: [t, "meta"], queryFn: ({ signal }) => call<Meta>(undefined, "/v1/meta", { signal }), staleTime: Infinity });
export const usage = (t: string, q: Query) => one<UsageReport>(t, ["usage"], "/v1/usage", q);
export const toolCalls = (t: string, q: Query) => list<Invocation>(t, "calls", "/v1/invocations", q);
export const budgets = (t: string, q: Query) => list<Budget>(t, "budgets", "/v1/budgets", q);
export const prices = (t: string, q: Query) => list<Price>(t, "prices", "/v1/prices", q);
export const quotas = (t: string) => one<List<Quota>>(t, ["quotas"], "/v1/quotas");
export const audit = (t: string, q: Query) => list<AuditEntry>(t, "audit", "/v1/audit", q);
export const auditEntry = (t: string, id: string) => one<AuditEntry>(t, ["audit", id], `/v1/audit/${at(id)}`);
export const keys = (t: string, q: Query = {}) => list<Key>(t, "keys", "/v1/keys", q);
export const key = (t: string, id: string) => one<Key>(t, ["keys", id], `/v1/keys/${at(id)}`);
export const roles = (t: string) => one<List<Role>>(t, ["roles"], "/v1/roles");
export const people = (t: string) => one<List<Person>>(t, ["people"], "/v1/people", { limit: 200 });
export const settings = (t: string) => one<Tenant>(t, ["tenant"], `/v1/tenants/${at(t)}`);
export const publishGate = (t: string) => ({ ...one<PublishGate>(t, ["publish-gate"], "/v1/publish-gate"), retry: false });
export const webhooks = (t: string, q: Query) => list<Webhook>(t, "webhooks", "/v1/webhooks", q);
export const webhook = (t: string, id: string) => one<Webhook>(t, ["webhooks", id], `/v1/webhooks/${at(id)}`);
export const deliveries = (t: string, id: string, q: Query) => list<Delivery>(t, `webhooks/${id}/deliveries`, `/v1/webhooks/${at(id)}/deliveries`, q);
export const schedules = (t: string, q: Query) => list<Schedule>(t, "schedules", "/v1/schedules", q);
export const schedule = (t: string, name: string) => one<Schedule>(t, ["schedules", name], `/v1/schedules/${at(name)}`);
export const scheduleStarts = (t: string, name: string, q: Query) => list<ScheduleStart>(t, `schedules/${name}/starts`, `/v1/schedules/${at(name)}/starts`, q);
export const scheduleTimes = (t: string, name: string) => one<ScheduleTimes>(t, ["schedules", name, "times"], `/v1/schedules/${at(name)}/times`, { limit: 5 });
