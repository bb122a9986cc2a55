drop trigger budget_windows_alert on budget_windows;
drop function alert_of_budget();
alter table budget_windows drop column alerted_at;

do $patch$
declare
    body text := pg_get_functiondef('record_steps(uuid, uuid, text, text, uuid, json, json, json, json, json)'::regprocedure);
    part text[];
begin
    foreach part slice 1 in array array[
array[$was$'budgeted', v_budgeted, 'at', now(),
        'taint', case when v_tainted is not null then v_tainted
            || jsonb_build_object('rule', (select n.taint from tenants n where n.id = p_tenant)) end);
$was$,
$becomes$'budgeted', v_budgeted, 'at', now());
$becomes$],
array[$was$        returning r.last_seq, coalesce(r.followed_until > now(), false), r.cancel_execution, r.pause_round, r.inbox, r.taint
            into v_seq, v_followed, v_cancel, v_pause, v_inbox, v_tainted;
        if not found then
            raise exception 'run not found' using errcode = 'TC001';
        elsif v_taint <> v_tainted then
            raise exception 'another call has tainted the run meanwhile' using errcode = 'TC001';
$was$,
$becomes$        returning r.last_seq, coalesce(r.followed_until > now(), false), r.cancel_execution, r.pause_round, r.inbox
            into v_seq, v_followed, v_cancel, v_pause, v_inbox;
        if not found then
            raise exception 'run not found' using errcode = 'TC001';
$becomes$],
array[$was$        update runs r set last_seq = r.last_seq + cardinality(v_types), taint = coalesce(r.taint, v_taint),
$was$,
$becomes$        update runs r set last_seq = r.last_seq + cardinality(v_types),
$becomes$],
array[$was$        select coalesce(r.followed_until > now(), false), r.cancel_execution, r.pause_round, r.inbox, r.taint
            into v_followed, v_cancel, v_pause, v_inbox, v_tainted
$was$,
$becomes$        select coalesce(r.followed_until > now(), false), r.cancel_execution, r.pause_round, r.inbox
            into v_followed, v_cancel, v_pause, v_inbox
$becomes$],
array[$was$                  and not coalesce(u.stops, false)
                  and (r.required_permission = '' or coalesce(x.permissions, '[]') ?| array[r.required_permission, '*'])
                  and case when coalesce(x.secret, false) and n.taint <> 'off' then not exists (
                          select from runs w
                          where w.tenant_id = p_tenant and w.id = p_run and coalesce(w.taint, v_taint) is not null and (
                              x.turn = 0 or x.parent_id is not null
                              or x.turn > (coalesce(w.taint, v_taint) ->> 'turn')::integer))
                      else true end
$was$,
$becomes$                  and not coalesce(u.stops, false)
$becomes$],
array[$was$                           bool_or(y.required_permission <> '' and not coalesce(x.permissions, '[]') ?| array[y.required_permission, '*']
                               or y.denied or y.requires_approval$was$,
$becomes$                           bool_or(y.denied or y.requires_approval$becomes$],
array[$was$receipt json, send boolean, hidden boolean, assigned boolean, secret boolean, permissions jsonb)
$was$,
$becomes$receipt json, send boolean, hidden boolean, assigned boolean)
$becomes$],
array[$was$            v_ended := v_ended + 1;
            if c.taints and v_taint is null and not exists (
                select from runs r where r.tenant_id = p_tenant and r.id = p_run and r.taint is not null)
            then
                v_taint := jsonb_build_object('run_id', p_run, 'invocation_id', v_invocation, 'tool', c.tool, 'version', c.version,
                    'turn', c.turn, 'at', now());
                v_types := v_types || 'run.tainted'::text;
                v_calls := v_calls || v_invocation;
                v_data := v_data || v_taint::json;
            end if;
$was$,
$becomes$            v_ended := v_ended + 1;
$becomes$],
array[$was$message_id uuid, answer_id uuid, turn integer, position integer, taints boolean)
$was$,
$becomes$message_id uuid, answer_id uuid, turn integer, position integer)
$becomes$],
array[$was$    v_over boolean := false;
    v_taint jsonb;
    v_tainted jsonb;
$was$,
$becomes$    v_over boolean := false;
$becomes$]] loop
        if (length(body) - length(replace(body, part[1], ''))) / length(part[1]) <> 1 then
            raise exception 'record_steps does not have once: %', part[1];
        end if;
        body := replace(body, part[1], part[2]);
    end loop;
    execute body;
end
$patch$;

alter table tenants drop column taint;
alter table runs drop column taint;
