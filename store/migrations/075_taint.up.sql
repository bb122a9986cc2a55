-- Taint: the first result of an untrusted source that a run got, and what tenants want done with
-- calls of such runs. Webhooks are notified before a budget is spent.

alter table runs add column taint jsonb;

comment on column runs.taint is 'The first result of an untrusted source that it got; null where it got none.';

-- Tenants of before keep what they have; new ones ask for approvals.
alter table tenants add column taint text not null default 'off';
alter table tenants alter column taint set default 'approve';

comment on column tenants.taint is 'What is done with calls of tainted runs that write outside or use a credential: off, approve or deny.';

grant update (taint) on tenants to toolcrib_app;

-- record_steps taints the run with the first call that ends and taints. It admits no call that uses a
-- credential in a run that was tainted before the call was decided, and none whose caller lacks a
-- permission, so that it takes no token of a rate. Its answer has the taint, with the tenant's rule.
-- What is changed of the function is replaced where it stands; the rest is not repeated here.
do $patch$
declare
    body text := pg_get_functiondef('record_steps(uuid, uuid, text, text, uuid, json, json, json, json, json)'::regprocedure);
    part text[];
begin
    foreach part slice 1 in array array[
array[$was$    v_over boolean := false;
$was$,
$becomes$    v_over boolean := false;
    v_taint jsonb;
    v_tainted jsonb;
$becomes$],
array[$was$message_id uuid, answer_id uuid, turn integer, position integer)
$was$,
$becomes$message_id uuid, answer_id uuid, turn integer, position integer, taints boolean)
$becomes$],
array[$was$            v_ended := v_ended + 1;
$was$,
$becomes$            v_ended := v_ended + 1;
            if c.taints and v_taint is null and not exists (
                select from runs r where r.tenant_id = p_tenant and r.id = p_run and r.taint is not null)
            then
                v_taint := jsonb_build_object('run_id', p_run, 'invocation_id', v_invocation, 'tool', c.tool, 'version', c.version,
                    'turn', c.turn, 'at', now());
                v_types := v_types || 'run.tainted'::text;
                v_calls := v_calls || v_invocation;
                v_data := v_data || v_taint::json;
            end if;
$becomes$],
array[$was$receipt json, send boolean, hidden boolean, assigned boolean)
$was$,
$becomes$receipt json, send boolean, hidden boolean, assigned boolean, secret boolean, permissions jsonb)
$becomes$],
array[$was$                           bool_or(y.denied or y.requires_approval$was$,
$becomes$                           bool_or(y.required_permission <> '' and not coalesce(x.permissions, '[]') ?| array[y.required_permission, '*']
                               or y.denied or y.requires_approval$becomes$],
array[$was$                  and not coalesce(u.stops, false)
$was$,
$becomes$                  and not coalesce(u.stops, false)
                  and (r.required_permission = '' or coalesce(x.permissions, '[]') ?| array[r.required_permission, '*'])
                  and case when coalesce(x.secret, false) and n.taint <> 'off' then not exists (
                          select from runs w
                          where w.tenant_id = p_tenant and w.id = p_run and coalesce(w.taint, v_taint) is not null and (
                              x.turn = 0 or x.parent_id is not null
                              or x.turn > (coalesce(w.taint, v_taint) ->> 'turn')::integer))
                      else true end
$becomes$],
array[$was$        select coalesce(r.followed_until > now(), false), r.cancel_execution, r.pause_round, r.inbox
            into v_followed, v_cancel, v_pause, v_inbox
$was$,
$becomes$        select coalesce(r.followed_until > now(), false), r.cancel_execution, r.pause_round, r.inbox, r.taint
            into v_followed, v_cancel, v_pause, v_inbox, v_tainted
$becomes$],
array[$was$        update runs r set last_seq = r.last_seq + cardinality(v_types),
$was$,
$becomes$        update runs r set last_seq = r.last_seq + cardinality(v_types), taint = coalesce(r.taint, v_taint),
$becomes$],
array[$was$        returning r.last_seq, coalesce(r.followed_until > now(), false), r.cancel_execution, r.pause_round, r.inbox
            into v_seq, v_followed, v_cancel, v_pause, v_inbox;
        if not found then
            raise exception 'run not found' using errcode = 'TC001';
$was$,
$becomes$        returning r.last_seq, coalesce(r.followed_until > now(), false), r.cancel_execution, r.pause_round, r.inbox, r.taint
            into v_seq, v_followed, v_cancel, v_pause, v_inbox, v_tainted;
        if not found then
            raise exception 'run not found' using errcode = 'TC001';
        elsif v_taint <> v_tainted then
            raise exception 'another call has tainted the run meanwhile' using errcode = 'TC001';
$becomes$],
array[$was$'budgeted', v_budgeted, 'at', now());
$was$,
$becomes$'budgeted', v_budgeted, 'at', now(),
        'taint', case when v_tainted is not null then v_tainted
            || jsonb_build_object('rule', (select n.taint from tenants n where n.id = p_tenant)) end);
$becomes$]] loop
        if (length(body) - length(replace(body, part[1], ''))) / length(part[1]) <> 1 then
            raise exception 'record_steps does not have once: %', part[1];
        end if;
        body := replace(body, part[1], part[2]);
    end loop;
    execute body;
end
$patch$;

alter table budget_windows add column alerted_at timestamptz;

comment on column budget_windows.alerted_at is 'When 80 % of the budget was spent.';

-- A budget of which 80 % are spent is an event, once in each of its periods. What is spent of a
-- tenant's budgets is spent by one transaction at a time.
create function alert_of_budget() returns trigger language plpgsql as $$
declare
    b record;
begin
    select x.*, coalesce(g.slug, '') as agent, coalesce(t.slug, '') as tool, coalesce(p.name, '') as profile into b
    from budgets x
    left join agents g on g.tenant_id = x.tenant_id and g.id = x.agent_id
    left join tool_registry t on t.scope_id in (x.tenant_id, '00000000-0000-0000-0000-000000000000') and t.id = x.tool_id
    left join profiles p on p.tenant_id = x.tenant_id and p.id = x.profile_id
    where x.tenant_id = new.tenant_id and x.id = new.budget_id and new.spent_micros >= x.limit_micros * 0.8;
    if not found then
        return new;
    end if;
    new.alerted_at := now();
    insert into webhook_deliveries (tenant_id, id, webhook_id, type, data)
    select w.tenant_id, new_uuid7(), w.id, 'budget.threshold',
        json_build_object('budget', b.name, 'by_platform', b.by_platform, 'period', b.period, 'span', new.span,
            'limit_micros', b.limit_micros, 'spent_micros', new.spent_micros, 'percent', 80,
            'agent', b.agent, 'tool', b.tool, 'profile', b.profile)
    from webhooks w
    where w.tenant_id = new.tenant_id and w.active and 'budget.threshold' = any (w.types) and w.agent in ('', b.agent)
      and w.tool in ('', b.tool);
    return new;
end
$$;

do $$
begin
    execute format('alter function alert_of_budget() set search_path = %I, pg_temp', current_schema());
end
$$;

create trigger budget_windows_alert
    before update of spent_micros on budget_windows
    for each row when (new.alerted_at is null and new.spent_micros > old.spent_micros)
    execute function alert_of_budget();
