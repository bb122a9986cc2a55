-- A call that is held after its admission keeps its token, and people are known behind their keys.

-- As take_rates of migration 068, but for a call that an attempt was admitted for before: it has its
-- tokens.
create or replace function take_rates(p_tenant uuid, p_effect text, p_tool uuid, p_agent uuid) returns json language plpgsql as $$
declare
    u record;
    v_full timestamptz;
    v_wait interval;
    v_longest interval;
    v_refused json;
    v_profiles uuid[] := '{}';
    v_agents uuid[] := '{}';
    v_each interval[] := '{}';
begin
    if exists (select from effects e where e.tenant_id = p_tenant and e.effect_id = p_effect and e.attempt > 0) then
        return null;
    end if;
    for u in
        select p.id, p.name, p.rate_calls, p.rate_per, p.rate_burst, coalesce(a.agent_id, '00000000-0000-0000-0000-000000000000') as agent_id,
               ('1 ' || p.rate_per)::interval / p.rate_calls as each
        from tool_assignments a join profiles p on p.tenant_id = a.tenant_id and p.id = a.profile_id
        where a.tenant_id = p_tenant and a.tool_id = p_tool and (a.agent_id is null or a.agent_id = p_agent) and p.rate_calls is not null
        order by p.id, coalesce(a.agent_id, '00000000-0000-0000-0000-000000000000')
    loop
        insert into rate_buckets as b (tenant_id, profile_id, tool_id, agent_id, full_at)
        values (p_tenant, u.id, p_tool, u.agent_id, clock_timestamp() + u.each)
        on conflict (tenant_id, profile_id, tool_id, agent_id) do update
            set full_at = greatest(b.full_at, clock_timestamp()) + u.each
            where greatest(b.full_at, clock_timestamp()) + u.each <= clock_timestamp() + u.each * u.rate_burst;
        if found then
            v_profiles := v_profiles || u.id;
            v_agents := v_agents || u.agent_id;
            v_each := v_each || u.each;
            continue;
        end if;
        select b.full_at into v_full from rate_buckets b
        where b.tenant_id = p_tenant and b.profile_id = u.id and b.tool_id = p_tool and b.agent_id = u.agent_id;
        v_wait := greatest(v_full + u.each - u.each * u.rate_burst - clock_timestamp(), interval '1 millisecond');
        if v_longest is null or v_wait > v_longest then
            v_longest := v_wait;
            v_refused := json_build_object('profile', u.name, 'calls', u.rate_calls, 'per', u.rate_per,
                'wait_ms', ceil(extract(epoch from v_wait) * 1000));
        end if;
    end loop;
    if v_refused is not null or exists (
        select from effects e where e.tenant_id = p_tenant and e.effect_id = p_effect and e.phase <> 'accepted')
    then
        update rate_buckets b set full_at = b.full_at - t.each
        from unnest(v_profiles, v_agents, v_each) as t (profile_id, agent_id, each)
        where b.tenant_id = p_tenant and b.profile_id = t.profile_id and b.tool_id = p_tool and b.agent_id = t.agent_id;
    end if;
    return v_refused;
end
$$;

-- The subjects themselves, the makers of those that are keys, their makers, and so on.
create function subjects_behind(p_tenant uuid, p_subjects text[]) returns text[] language sql stable as $$
    with recursive behind as (
        select unnest(p_subjects) as subject
        union
        select k.created_by from behind b join api_keys k on k.tenant_id = p_tenant and 'key:' || k.id::text = b.subject
    )
    select coalesce(array_agg(b.subject), '{}') from behind b
$$;
