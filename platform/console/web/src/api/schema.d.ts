// Generated from the API's description by npm run types. Do not edit.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Agent: {
            /** Format: date-time */
            created_at: string;
            description?: string;
            fallback_models?: components["schemas"]["AgentFallbackModel"][];
            id: string;
            instructions: string;
            limits: components["schemas"]["AgentLimits"];
            max_concurrency?: {
                [key: string]: number;
            };
            model: string;
            model_options?: unknown;
            name: string;
            /** @enum {string} */
            on_unavailable_tool?: "omit" | "refuse";
            output_schema?: unknown;
            /** Format: date-time */
            published_at?: string;
            /** Format: int64 */
            revision: number;
            skills?: {
                [key: string]: components["schemas"]["AgentSkill"];
            };
            slug: string;
            spaces?: string[];
            /** @enum {string} */
            status: "draft" | "published" | "deprecated" | "disabled";
            /** @enum {string} */
            text_tool_calls?: "fallback" | "only";
            tool_groups?: string[];
            /** @enum {string} */
            tool_mode?: "sequential" | "parallel_safe";
            tools: string[];
            /** Format: date-time */
            updated_at: string;
            version: string;
        };
        AgentApprovalAsked: {
            approval_id: string;
            binding: string;
            call_id: string;
            /** Format: date-time */
            expires_at: string;
            message: string;
            /** Format: int64 */
            needed: number;
            reasons?: string[];
            /** Format: int64 */
            round: number;
            tool: string;
            version: string;
        };
        AgentApprovalEscalated: {
            approval_id: string;
            call_id: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: int64 */
            round: number;
            to: string;
            tool: string;
            version: string;
        };
        AgentCall: {
            arguments: unknown;
            id: string;
            name: string;
        };
        AgentCallApproved: {
            approval_id: string;
            by: string[];
            call_id: string;
            edited?: boolean;
            /** Format: int64 */
            round: number;
            tool: string;
            version: string;
        };
        AgentCallEnded: {
            call_id: string;
            is_error?: boolean;
            kind?: string;
            /** Format: int64 */
            ms?: number;
            status: string;
            tool: string;
            version: string;
        };
        AgentCallOffered: {
            /** Format: date-time */
            answer_by?: string;
            call_id: string;
            intent?: string;
            is_async?: boolean;
            kind?: string;
            pending_tool_call_id: string;
            requires_response: boolean;
            shown: boolean;
            tool: string;
            version: string;
        };
        AgentCallStarted: {
            /** Format: int64 */
            attempt: number;
            call_id: string;
            tool: string;
            version: string;
        };
        AgentFallbackModel: {
            model: string;
            model_options?: unknown;
        };
        AgentInboxTaken: {
            /** Format: int64 */
            items: number;
            /** Format: int64 */
            turn: number;
        };
        AgentLimits: {
            /** Format: int64 */
            max_calls?: number;
            /** Format: int64 */
            max_calls_per_turn?: number;
            /** Format: int64 */
            max_turns?: number;
            /** Format: int64 */
            timeout_s?: number;
        };
        AgentMessage: {
            call_id?: string;
            calls?: components["schemas"]["AgentCall"][];
            content?: components["schemas"]["ToolContent"][];
            /** Format: date-time */
            created_at: string;
            id: string;
            is_error?: boolean;
            parent_id?: string;
            /** Format: int64 */
            position: number;
            role: string;
            run_id: string;
            /** Format: int64 */
            turn: number;
            usage?: components["schemas"]["AgentUsage"];
        };
        AgentModelRetry: {
            /** Format: int64 */
            attempt: number;
            cause: string;
            kind: string;
            /** Format: int64 */
            max_attempts: number;
            model: string;
            next_model?: string;
            /** Format: date-time */
            retry_at: string;
            /** Format: int64 */
            turn: number;
            turn_id: string;
        };
        AgentNodeEnded: {
            call_id: string;
            error?: string;
            error_kind?: string;
            kind: string;
            node: string;
            path: string;
            status: string;
        };
        AgentOutput: {
            /** Format: int64 */
            attempt: number;
            call_id?: string;
            text: string;
            /** Format: int64 */
            turn: number;
        };
        AgentPauseChanged: {
            by: string;
            reason?: string;
        };
        AgentResultReceived: {
            by?: string;
            call_id: string;
            is_error: boolean;
            late?: boolean;
            pending_tool_call_id: string;
            tool: string;
            version: string;
        };
        AgentRunEnded: {
            ended_by?: string;
            kind?: string;
            message?: string;
            reason?: string;
            status: string;
            /** Format: int64 */
            turns?: number;
        };
        AgentRunStarted: {
            agent?: string;
            agent_version?: string;
            kind: string;
            workflow_id: string;
        };
        AgentSkill: {
            description?: string;
            instructions: string;
        };
        AgentTurnAnswered: {
            /** Format: int64 */
            calls: number;
            /** Format: int64 */
            input_tokens: number;
            model?: string;
            /** Format: int64 */
            output_tokens: number;
            /** Format: int64 */
            turn: number;
            /** Format: int64 */
            waited_ms?: number;
        };
        AgentUsage: {
            /** Format: int64 */
            cached_input_tokens?: number;
            /** Format: int64 */
            input_tokens: number;
            /** Format: int64 */
            output_tokens: number;
            /** Format: int64 */
            reasoning_tokens?: number;
        };
        AgentWarning: {
            attempted?: string;
            call_id?: string;
            declared?: string;
            kind?: string;
            message?: string;
            reason: string;
            tool: string;
            version?: string;
        };
        AppTool: {
            name: string;
            tool: string;
        };
        Approval: {
            agent?: string;
            arguments?: unknown;
            batch: string;
            because?: string;
            binding: string;
            call_id: string;
            change?: components["schemas"]["ToolChange"];
            /** Format: date-time */
            created_at: string;
            credential?: string;
            decidable: boolean;
            decisions?: components["schemas"]["Decision"][];
            edited?: unknown;
            /** Format: date-time */
            ended_at?: string;
            escalate_to?: string;
            escalated?: boolean;
            /** Format: date-time */
            escalates_at?: string;
            /** Format: date-time */
            expires_at: string;
            host?: string;
            id: string;
            message: string;
            /** Format: int64 */
            needed: number;
            own?: boolean;
            permission: string;
            reason?: string;
            reasons?: string[];
            requester: string;
            root_run_id: string;
            /** Format: int64 */
            round: number;
            run_id: string;
            /** @enum {string} */
            status: "pending" | "approved" | "rejected" | "expired" | "cancelled";
            tool: string;
            /** Format: int64 */
            turn: number;
            version: string;
        };
        ApprovedMCP: {
            /** Format: int64 */
            failed: number;
            items: components["schemas"]["ApprovedMCPChanges"][];
        };
        ApprovedMCPChanges: {
            error?: components["schemas"]["Problem"];
            name: string;
            published?: boolean;
            tool?: string;
            version?: string;
            warnings?: string[];
        };
        Assignment: {
            agent?: string;
            agent_id?: string;
            /** Format: date-time */
            changed_at: string;
            changed_by: string;
            id: string;
            profile?: string;
            tool: string;
            tool_id: string;
        };
        AuditActor: {
            key_id?: string;
            /** @enum {string} */
            kind: "key" | "token" | "user" | "cli" | "system" | "database";
            subject: string;
        };
        AuditBreak: {
            id?: string;
            reason: string;
            /** Format: int64 */
            seq: number;
        };
        AuditEntry: {
            /** @enum {string} */
            action: "tool.created" | "graph.created" | "agent.created" | "credential.created" | "key.created" | "tenant.created" | "grant.created" | "webhook.created" | "schedule.created" | "pipeline.created" | "space.created" | "mcp_server.created" | "artifact.created" | "price.created" | "budget.created" | "profile.created" | "assignment.created" | "toolset.created" | "role.created" | "quota.created" | "canary.created" | "publish_gate.created" | "view.created" | "tool_session.created" | "embed_origin.created" | "browser_session.created" | "tool.draft_edited" | "graph.draft_edited" | "agent.draft_edited" | "tool.versioned" | "graph.versioned" | "agent.versioned" | "artifact.versioned" | "tool.published" | "graph.published" | "agent.published" | "tool.deprecated" | "graph.deprecated" | "agent.deprecated" | "artifact.deprecated" | "tool.disabled" | "graph.disabled" | "agent.disabled" | "artifact.disabled" | "pipeline.disabled" | "webhook.disabled" | "mcp_server.disabled" | "tool.enabled" | "graph.enabled" | "agent.enabled" | "artifact.enabled" | "pipeline.enabled" | "webhook.enabled" | "mcp_server.enabled" | "tool.renamed" | "graph.renamed" | "agent.renamed" | "tool.quarantined" | "graph.quarantined" | "tool.released" | "graph.released" | "tool.version_deleted" | "graph.version_deleted" | "agent.version_deleted" | "artifact.version_deleted" | "tool.override_set" | "tool.override_removed" | "credential.changed" | "key.changed" | "tenant.changed" | "grant.changed" | "webhook.changed" | "schedule.changed" | "pipeline.changed" | "space.changed" | "mcp_server.changed" | "artifact.changed" | "file.changed" | "price.changed" | "budget.changed" | "profile.changed" | "assignment.changed" | "toolset.changed" | "role.changed" | "quota.changed" | "canary.changed" | "publish_gate.changed" | "view.changed" | "tool_session.changed" | "credential.rotated" | "credential.reencrypted" | "credential.revoked" | "key.revoked" | "grant.revoked" | "tenant.suspended" | "tenant.resumed" | "tenant.data_key_made" | "tenant.data_key_wrapped" | "tenant.data_key_deleted" | "tenant.erasure_started" | "tenant.erased" | "retention.set" | "retention.unset" | "approval.decided" | "approval.decision_deleted" | "pending_call.answered" | "input.answered" | "pending_call.token_made" | "input.link_made" | "run.started" | "run.continued" | "run.cancelled" | "webhook.secret_rotated" | "webhook.replayed" | "schedule.paused" | "run.paused" | "schedule.resumed" | "run.resumed" | "schedule.triggered" | "pipeline.document_added" | "pipeline.document_replaced" | "pipeline.document_deleted" | "pipeline.reembedded" | "tool.archived" | "graph.archived" | "space.archived" | "tool.restored" | "graph.restored" | "space.restored" | "space.posted" | "space.member_added" | "space.member_changed" | "space.member_removed" | "mcp_server.discovered" | "mcp_server.detached" | "mcp_server.tool_approved" | "file.uploaded" | "payload.decrypted" | "tool.deleted" | "graph.deleted" | "agent.deleted" | "credential.deleted" | "key.deleted" | "tenant.deleted" | "grant.deleted" | "webhook.deleted" | "schedule.deleted" | "pipeline.deleted" | "space.deleted" | "mcp_server.deleted" | "artifact.deleted" | "file.deleted" | "note.deleted" | "price.deleted" | "budget.deleted" | "profile.deleted" | "assignment.deleted" | "toolset.deleted" | "role.deleted" | "quota.deleted" | "canary.deleted" | "publish_gate.deleted" | "view.deleted" | "tool_session.deleted" | "embed_origin.deleted" | "browser_session.deleted";
            actor: components["schemas"]["AuditActor"];
            after?: unknown;
            /** Format: date-time */
            at: string;
            before?: unknown;
            hash?: string;
            id: string;
            object: components["schemas"]["AuditObject"];
            /** @enum {string} */
            outcome: "done" | "refused";
            reason?: string;
            request_id?: string;
            /** Format: date-time */
            sealed_at?: string;
            /** Format: int64 */
            seq?: number;
        };
        AuditObject: {
            id?: string;
            kind: string;
            name?: string;
        };
        AuditReport: {
            broken?: components["schemas"]["AuditBreak"];
            complete: boolean;
            hash?: string;
            /** Format: int64 */
            seq: number;
            /** Format: int64 */
            unsealed: number;
            /** Format: date-time */
            unsealed_since?: string;
        };
        BrowserSession: {
            browser?: string;
            /** Format: date-time */
            created_at: string;
            current: boolean;
            id: string;
            /** Format: date-time */
            last_used_at: string;
            subject: string;
            /** Format: date-time */
            until: string;
        };
        BrowserTenant: {
            name?: string;
            slug: string;
        };
        Budget: {
            agent?: string;
            agent_id?: string;
            /** @enum {string} */
            by: "tenant" | "platform";
            /** Format: date-time */
            changed_at: string;
            changed_by: string;
            id: string;
            /** Format: int64 */
            limit_micros: number;
            name: string;
            /** @enum {string} */
            period: "day" | "month" | "run";
            profile?: string;
            /** Format: int64 */
            reserved_micros: number;
            /** Format: date-time */
            resets_at?: string;
            /** Format: int64 */
            spent_micros: number;
            tool?: string;
            tool_id?: string;
        };
        BudgetUse: {
            agent?: string;
            agent_id?: string;
            /** @enum {string} */
            by: "tenant" | "platform";
            /** Format: date-time */
            changed_at: string;
            changed_by: string;
            id: string;
            /** Format: int64 */
            left_micros: number;
            /** Format: int64 */
            limit_micros: number;
            name: string;
            /** @enum {string} */
            period: "day" | "month" | "run";
            /** Format: int64 */
            price_micros?: number;
            profile?: string;
            refuses: boolean;
            /** Format: int64 */
            reserved_micros: number;
            /** Format: date-time */
            resets_at?: string;
            /** Format: int64 */
            spent_micros: number;
            tool?: string;
            tool_id?: string;
        };
        BulkCounts: {
            /** Format: int64 */
            changed: number;
            /** Format: int64 */
            failed: number;
            /** Format: int64 */
            skipped: number;
            /** Format: int64 */
            unchanged: number;
        };
        BulkItem: {
            error?: components["schemas"]["Problem"];
            /** @enum {string} */
            outcome: "changed" | "unchanged" | "failed" | "skipped";
            /** @enum {string} */
            status?: "draft" | "published" | "deprecated" | "disabled";
            tool: string;
            tool_id?: string;
            version?: string;
        };
        BulkResult: {
            /** @enum {string} */
            action: "publish" | "disable" | "enable" | "delete";
            counts: components["schemas"]["BulkCounts"];
            dry_run: boolean;
            items: components["schemas"]["BulkItem"][];
        };
        CallWait: {
            /** Format: int64 */
            calls: number;
            concurrency_group?: string;
            detail: string;
            /** Format: int64 */
            most_ms: number;
            /** @enum {string} */
            reason: "max_concurrency" | "not_pure" | "tool_mode";
            tool?: string;
            /** Format: int64 */
            turn: number;
        };
        Canary: {
            /** Format: int64 */
            calls: number;
            digest: string;
            /** Format: date-time */
            ended_at?: string;
            ended_by?: string;
            /** Format: int64 */
            failures: number;
            id: string;
            /** Format: date-time */
            judged_at: string;
            /** Format: int64 */
            max_error_percent: number;
            /** Format: int64 */
            min_calls: number;
            promote: boolean;
            reason?: string;
            /** Format: int64 */
            share: number;
            /** Format: int64 */
            stable_calls: number;
            /** Format: int64 */
            stable_failures: number;
            /** Format: date-time */
            started_at: string;
            started_by: string;
            /** @enum {string} */
            state: "running" | "passed" | "promoted" | "returned" | "stopped";
            tool: string;
            /** Format: int64 */
            until_calls: number;
            version: string;
        };
        Change: {
            /** @enum {string} */
            bump: "none" | "patch" | "minor" | "major";
            path: string;
            reason: string;
        };
        CheckedDefinition: {
            error?: components["schemas"]["Problem"];
            exists: boolean;
            findings?: components["schemas"]["Finding"][];
            input?: unknown;
            input_schema?: unknown;
            output?: unknown;
            output_schema?: unknown;
            valid: boolean;
            warnings?: string[];
        };
        Chunking: {
            /** Format: int64 */
            max_chars?: number;
            /** Format: int64 */
            overlap?: number;
        };
        Confirm: {
            reasons: string[];
            required: boolean;
        };
        Continued: {
            run_id: string;
            /** Format: int64 */
            turn: number;
        };
        Counts: {
            /** Format: int64 */
            cached_input_tokens: number;
            /** Format: int64 */
            call_ms: number;
            /** Format: int64 */
            calls: number;
            /** Format: int64 */
            cost_micros: number;
            /** Format: int64 */
            failed_calls: number;
            /** Format: int64 */
            input_tokens: number;
            /** Format: int64 */
            output_tokens: number;
            /** Format: int64 */
            reasoning_tokens: number;
            /** Format: int64 */
            turns: number;
            /** Format: int64 */
            unpriced_turns: number;
        };
        CreatedKey: {
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            /** Format: date-time */
            expires_at?: string;
            id: string;
            /** Format: date-time */
            last_used_at?: string;
            limits?: components["schemas"]["KeyLimits"];
            name: string;
            owner?: string;
            permissions: string[];
            /** Format: date-time */
            revoked_at?: string;
            roles?: string[];
            scopes?: string[];
            secret: string;
            toolset?: string;
            toolset_id?: string;
        };
        Credential: {
            category?: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at?: string;
            hosts: string[];
            id: string;
            /** Format: int64 */
            key_version: number;
            /** Format: date-time */
            last_used_at?: string;
            provider_key?: string;
            provider_variant?: string;
            ref: string;
            /** Format: int64 */
            revision: number;
            /** Format: date-time */
            revoked_at?: string;
            /** Format: date-time */
            rotated_at?: string;
            /** Format: date-time */
            updated_at: string;
            value: string;
            /** Format: int64 */
            version: number;
        };
        Decided: {
            approval?: components["schemas"]["Approval"];
            error?: components["schemas"]["Problem"];
            id: string;
        };
        Decision: {
            approve: boolean;
            /** Format: date-time */
            at: string;
            edited?: unknown;
            grant_id?: string;
            reason?: string;
            subject: string;
        };
        Declaration: {
            /** Format: date-time */
            at: string;
            by: string;
        };
        Definition: {
            category?: string;
            description: string;
            execution: components["schemas"]["ToolExecution"];
            icon?: string;
            implementation_config?: unknown;
            /** @enum {string} */
            implementation_type: "internal" | "http" | "function" | "rag_retrieval" | "agent_call" | "artifact" | "mcp" | "custom" | "prompt" | "task" | "composition" | "graph" | "client" | "input" | "provider";
            input_schema?: unknown;
            interaction: components["schemas"]["ToolInteraction"];
            name: string;
            /** @enum {string} */
            output_check?: "refuse" | "warn";
            output_schema?: unknown;
        };
        Delivery: {
            /** Format: date-time */
            at: string;
            /** Format: int64 */
            attempts: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            ended_at?: string;
            id: string;
            invocation_id?: string;
            last_answer?: string;
            /** Format: date-time */
            last_attempt_at?: string;
            last_error?: string;
            /** Format: int64 */
            last_ms?: number;
            /** Format: int64 */
            last_status?: number;
            /** Format: date-time */
            next_attempt_at?: string;
            /** Format: int64 */
            replays?: number;
            run_id?: string;
            /** @enum {string} */
            status: "pending" | "delivered" | "failed";
            type: string;
            webhook_id: string;
        };
        DetachedMCP: {
            disabled: string[];
            server: string;
        };
        Diff: {
            /** @enum {string} */
            bump: "none" | "patch" | "minor" | "major";
            changes: components["schemas"]["Change"][];
            enough: boolean;
            from?: string;
            least_version?: string;
            number: string;
            refusal?: string;
            to: string;
            tool: string;
        };
        Document: {
            /** Format: int64 */
            bytes: number;
            /** Format: int64 */
            chunks: number;
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            digest: string;
            /** Format: int64 */
            embedded: number;
            error?: string;
            id: string;
            key: string;
            /** Format: int64 */
            live_version: number;
            /** @enum {string} */
            media_type: "text/plain" | "text/markdown" | "text/html" | "application/pdf";
            metadata?: {
                [key: string]: unknown;
            };
            pipeline_id: string;
            /** Format: date-time */
            ready_at?: string;
            source?: string;
            /** @enum {string} */
            status: "pending" | "ingesting" | "ready" | "failed";
            title?: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: int64 */
            version: number;
        };
        DocumentText: {
            /** Format: int64 */
            bytes: number;
            document_id: string;
            /** Format: int64 */
            end: number;
            /** Format: int64 */
            start: number;
            text: string;
            /** Format: int64 */
            version: number;
        };
        Effective: {
            defaults?: {
                [key: string]: unknown;
            };
            description: string;
            enabled: boolean;
            limits?: components["schemas"]["OverrideLimits"];
            requires_approval: boolean;
            why: string;
        };
        EmbedOrigin: {
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            id: string;
            origin: string;
        };
        EmbeddingConfig: {
            /** Format: int64 */
            batch_size?: number;
            credentials_ref?: string;
            /** Format: int64 */
            dimensions: number;
            document_prefix?: string;
            model: string;
            query_prefix?: string;
            request_dimensions?: boolean;
            url: string;
        };
        EndedSessions: {
            /** Format: int64 */
            ended: number;
        };
        Explanation: {
            budgets?: components["schemas"]["BudgetUse"][];
            code?: string;
            detail?: string;
            digest?: string;
            draft?: boolean;
            input_schema?: unknown;
            mode: string;
            reads_declared?: components["schemas"]["Declaration"];
            ref: string;
            shadows?: boolean;
            slug?: string;
            steps: components["schemas"]["Step"][];
            taint?: components["schemas"]["Taint"];
            tool_id?: string;
            version?: string;
            weakened?: components["schemas"]["Weakened"][];
        };
        Facet: {
            name: string;
            /** Format: int64 */
            tools: number;
        };
        Feature: {
            available: boolean;
            because?: string;
            name: string;
        };
        FieldError: {
            detail: string;
            path?: string;
        };
        Finding: {
            code: string;
            path?: string;
            text: string;
        };
        GoneTool: {
            method: string;
            operation_id?: string;
            path: string;
            /** @enum {string} */
            status: "draft" | "published" | "deprecated" | "disabled";
            tool: string;
            tool_id: string;
        };
        Grant: {
            agent?: string;
            covers: string;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /** Format: date-time */
            expires_at: string;
            id: string;
            reason?: string;
            requester?: string;
            /** Format: date-time */
            revoked_at?: string;
            revoked_by?: string;
            /** @enum {string} */
            status: "active" | "used_up" | "expired" | "revoked";
            tool: string;
            /** Format: int64 */
            used: number;
            /** Format: int64 */
            uses: number;
            version?: string;
            when?: string;
        };
        Group: {
            /** Format: int64 */
            count: number;
            value: string;
        };
        ImportCounts: {
            /** Format: int64 */
            created: number;
            /** Format: int64 */
            failed: number;
            /** Format: int64 */
            gone: number;
            /** Format: int64 */
            mapped: number;
            /** Format: int64 */
            mapped_with_losses: number;
            /** Format: int64 */
            published: number;
            /** Format: int64 */
            skipped: number;
            /** Format: int64 */
            unchanged: number;
            /** Format: int64 */
            unselected: number;
            /** Format: int64 */
            updated: number;
        };
        ImportedOpenAPI: {
            counts: components["schemas"]["ImportCounts"];
            digest: string;
            document_version: string;
            dry_run: boolean;
            gone?: components["schemas"]["GoneTool"][];
            hosts: string[];
            name: string;
            needs?: components["schemas"]["NeededCredential"][];
            notes?: components["schemas"]["Loss"][];
            openapi: string;
            operations: components["schemas"]["ImportedOperation"][];
            title: string;
        };
        ImportedOperation: {
            /** @enum {string} */
            action: "created" | "updated" | "unchanged" | "failed" | "skipped";
            diff?: components["schemas"]["Diff"];
            /** @enum {string} */
            egress_class?: "none" | "read_only" | "write";
            error?: components["schemas"]["Problem"];
            losses?: components["schemas"]["Loss"][];
            /** @enum {string} */
            mapping: "mapped" | "mapped_with_losses" | "skipped";
            method: string;
            needs?: string;
            operation_id?: string;
            /** @enum {string} */
            pagination?: "link" | "next_url" | "cursor" | "page";
            path: string;
            pointer: string;
            published?: boolean;
            reason?: string;
            tool?: string;
            tool_id?: string;
            version?: string;
            warnings?: string[];
        };
        InputLink: {
            /** Format: date-time */
            expires_at: string;
            share_url: string;
            view_id: string;
        };
        InputRequest: {
            answer?: unknown;
            /** Format: date-time */
            answer_by?: string;
            /** Format: date-time */
            answered_at?: string;
            answered_by?: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            fields: unknown;
            instructions?: string;
            /** @enum {string} */
            kind: "input_request";
            root_run_id: string;
            run_id: string;
            /** @enum {string} */
            status: "waiting" | "pending" | "resolved" | "expired" | "cancelled";
            title: string;
            view_id: string;
        };
        InputWait: {
            /** Format: date-time */
            expires_at?: string;
            /** @enum {string} */
            kind: "input_request";
            share_url?: string;
            title: string;
            view_id: string;
        };
        Invocation: {
            agent_id?: string;
            approval_status: string;
            /** Format: int64 */
            attempt: number;
            call_id: string;
            check?: components["schemas"]["ToolCheck"];
            /** Format: date-time */
            completed_at?: string;
            /** Format: int64 */
            cost_micros?: number;
            /** Format: date-time */
            created_at: string;
            digest?: string;
            effect_id?: string;
            egress_class?: string;
            error?: string;
            error_kind?: string;
            id: string;
            /** @enum {string} */
            implementation_type?: "internal" | "http" | "function" | "rag_retrieval" | "agent_call" | "artifact" | "mcp" | "custom" | "prompt" | "task" | "composition" | "graph" | "client" | "input" | "provider";
            input?: unknown;
            is_error: boolean;
            mode: string;
            output?: components["schemas"]["ToolResult"];
            /** Format: int64 */
            output_bytes?: number;
            parent_id?: string;
            /** Format: int64 */
            position: number;
            receipt?: unknown;
            run_id?: string;
            /** Format: date-time */
            started_at?: string;
            status: string;
            subject: string;
            tenant_id: string;
            tool: string;
            tool_id?: string;
            /** Format: int64 */
            turn: number;
            version?: string;
        };
        Key: {
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            /** Format: date-time */
            expires_at?: string;
            id: string;
            /** Format: date-time */
            last_used_at?: string;
            limits?: components["schemas"]["KeyLimits"];
            name: string;
            owner?: string;
            permissions: string[];
            /** Format: date-time */
            revoked_at?: string;
            roles?: string[];
            scopes?: string[];
            toolset?: string;
            toolset_id?: string;
        };
        KeyLimits: {
            /** Format: int64 */
            burst?: number;
            /** Format: int64 */
            bytes_per_minute?: number;
            /** Format: int64 */
            requests_per_second?: number;
        };
        KnownName: {
            meaning: string;
            name: string;
        };
        KnownPermission: {
            meaning: string;
            name: string;
            roles: string[];
        };
        LinkedToolSession: {
            aggregate: string;
            changed_by?: string;
            config: unknown;
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            /** Format: date-time */
            ended_at?: string;
            entity_ids: string[];
            id: string;
            /** Format: date-time */
            link_until?: string;
            linked: boolean;
            /** @enum {string} */
            status: "active" | "completed" | "cancelled";
            /** Format: int64 */
            submissions: number;
            title: string;
            token: string;
            tool: string;
            tool_id: string;
            /** Format: date-time */
            updated_at: string;
            url: string;
            version: string;
        };
        Loss: {
            pointer?: string;
            reason: string;
        };
        MCPAuth: {
            credentials_ref: string;
            header?: string;
            /** @enum {string} */
            type: "bearer" | "basic" | "header";
        };
        MCPDefinition: {
            annotations?: unknown;
            description?: string;
            digest: string;
            input_schema?: unknown;
            output_schema?: unknown;
            title?: string;
        };
        MCPDrift: {
            /** Format: date-time */
            approved_at?: string;
            approved_by?: string;
            approved_digest?: string;
            /** Format: date-time */
            changed_at: string;
            description?: string;
            diff?: components["schemas"]["Diff"];
            /** Format: date-time */
            first_seen_at: string;
            name: string;
            offered?: components["schemas"]["MCPDefinition"];
            pinned?: components["schemas"]["MCPDefinition"];
            pinned_digest?: string;
            quarantine?: string;
            reason?: string;
            /** Format: date-time */
            seen_at: string;
            seen_digest?: string;
            /** @enum {string} */
            state: "offered" | "pinned" | "changed" | "approved" | "gone" | "refused";
            tool?: string;
            tool_id?: string;
            /** @enum {string} */
            tool_status?: "draft" | "published" | "deprecated" | "disabled";
            warnings?: string[];
        };
        MCPRefresh: {
            error?: components["schemas"]["Problem"];
            server: components["schemas"]["MCPServer"];
            tools: components["schemas"]["MCPRefreshedTool"][];
            /** Format: int64 */
            unchanged: number;
        };
        MCPRefreshedTool: {
            /** @enum {string} */
            change: "new" | "offered" | "changed" | "gone" | "back" | "refused" | "missing";
            name: string;
            reason?: string;
            tool?: string;
        };
        MCPServer: {
            allowed_tools: string[];
            auth?: components["schemas"]["MCPAuth"];
            command?: string;
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            /** Format: date-time */
            discovered_at?: string;
            discovery_error?: string;
            headers?: {
                [key: string]: unknown;
            };
            id: string;
            name: string;
            protocol_version?: string;
            /** Format: int64 */
            revision: number;
            server_name?: string;
            server_url?: string;
            server_version?: string;
            slug: string;
            /** @enum {string} */
            status: "active" | "disabled";
            /** @enum {string} */
            transport: "streamable_http" | "sse" | "stdio";
            trust_hints?: boolean;
            trusted?: boolean;
            /** Format: date-time */
            updated_at: string;
        };
        MCPServerDefinition: {
            allowed_tools?: string[];
            auth?: components["schemas"]["MCPAuth"];
            command?: string;
            headers?: {
                [key: string]: unknown;
            };
            name?: string;
            /** Format: int64 */
            revision?: number;
            server_url?: string;
            slug?: string;
            /** @enum {string} */
            status?: "active" | "disabled";
            /** @enum {string} */
            transport?: "streamable_http" | "http" | "sse" | "stdio";
            trust_hints?: boolean;
        };
        MCPTool: {
            /** Format: date-time */
            approved_at?: string;
            approved_by?: string;
            approved_digest?: string;
            /** Format: date-time */
            changed_at: string;
            description?: string;
            /** Format: date-time */
            first_seen_at: string;
            name: string;
            pinned_digest?: string;
            quarantine?: string;
            reason?: string;
            /** Format: date-time */
            seen_at: string;
            seen_digest?: string;
            /** @enum {string} */
            state: "offered" | "pinned" | "changed" | "approved" | "gone" | "refused";
            tool?: string;
            tool_id?: string;
            /** @enum {string} */
            tool_status?: "draft" | "published" | "deprecated" | "disabled";
        };
        Me: {
            features: components["schemas"]["Feature"][];
            permissions: string[];
            subject?: string;
            tenant?: components["schemas"]["BrowserTenant"];
            tenants: components["schemas"]["BrowserTenant"][];
        };
        Meta: {
            audit_actions: components["schemas"]["KnownName"][];
            development: boolean;
            implementation_types: string[];
            /** Format: int64 */
            max_file_bytes?: number;
            permissions: components["schemas"]["KnownPermission"][];
            problem_kinds: string[];
            temporal_ui?: string;
            tokens: boolean;
            version: string;
            webhook_events: components["schemas"]["KnownName"][];
        };
        ModelRetry: {
            /** Format: int64 */
            attempt: number;
            cause: string;
            kind: string;
            /** Format: int64 */
            max_attempts: number;
            model: string;
            next_model?: string;
            /** Format: date-time */
            retry_at: string;
            /** Format: int64 */
            turn: number;
        };
        NeededCredential: {
            holds: string;
            /** Format: int64 */
            operations: number;
            scheme: string;
        };
        NewGrant: {
            agent?: string;
            /** Format: int64 */
            expires_s: number;
            reason?: string;
            requester?: string;
            tool: string;
            /** Format: int64 */
            uses: number;
            version?: string;
            when?: string;
        };
        Omission: {
            kind: string;
            reason: string;
            tool: string;
        };
        Override: {
            /** @enum {string} */
            by: "tenant" | "platform";
            /** Format: date-time */
            changed_at: string;
            changed_by: string;
            defaults?: {
                [key: string]: unknown;
            };
            description?: string;
            enabled?: boolean;
            limits?: components["schemas"]["OverrideLimits"];
            reason?: string;
            requires_approval: boolean;
            /** Format: int64 */
            revision: number;
            tool: string;
            tool_id: string;
        };
        OverrideLimits: {
            /** Format: int64 */
            inline_bytes?: number;
            /** Format: int64 */
            max_attempts?: number;
            /** Format: double */
            timeout_s?: number;
        };
        OverrideVersion: {
            /** @enum {string} */
            by: "tenant" | "platform";
            /** Format: date-time */
            changed_at: string;
            changed_by: string;
            defaults?: {
                [key: string]: unknown;
            };
            description?: string;
            enabled?: boolean;
            limits?: components["schemas"]["OverrideLimits"];
            reason?: string;
            removed?: boolean;
            requires_approval: boolean;
            /** Format: int64 */
            revision: number;
            tool: string;
            tool_id: string;
        };
        Parent: {
            detached?: boolean;
            invocation_id: string;
            run_id: string;
        };
        Paused: {
            /** Format: date-time */
            at: string;
            by: string;
            reason?: string;
        };
        PendingCall: {
            agent_id?: string;
            /** Format: date-time */
            answer_by?: string;
            arguments?: unknown;
            call_id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            id: string;
            /** @enum {string} */
            intent?: "render" | "action" | "compute";
            is_async: boolean;
            late?: boolean;
            requires_response: boolean;
            /** Format: date-time */
            resolved_at?: string;
            result?: components["schemas"]["ToolResult"];
            root_run_id: string;
            run_id: string;
            shown: boolean;
            /** @enum {string} */
            status: "waiting" | "pending" | "resolved" | "expired" | "cancelled";
            subject?: string;
            submitted_by?: string;
            tool: string;
            /** Format: int64 */
            turn: number;
            version: string;
        };
        Person: {
            /** Format: date-time */
            first_seen_at: string;
            /** Format: date-time */
            last_seen_at: string;
            roles: string[];
            subject: string;
        };
        Pin: {
            digest: string;
            /** @enum {string} */
            implementation_type: "internal" | "http" | "function" | "rag_retrieval" | "agent_call" | "artifact" | "mcp" | "custom" | "prompt" | "task" | "composition" | "graph" | "client" | "input" | "provider";
            tool: string;
            version: string;
        };
        Pipeline: {
            chunking: components["schemas"]["Chunking"];
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            description?: string;
            disabled?: boolean;
            /** Format: int64 */
            documents?: number;
            embedding?: components["schemas"]["EmbeddingConfig"];
            /** Format: int64 */
            generation?: number;
            id: string;
            language: string;
            name: string;
            reembedding?: components["schemas"]["Reembedding"];
            reembedding_error?: string;
            /** Format: int64 */
            revision: number;
            /** @enum {string} */
            search: "full_text" | "vector" | "hybrid";
            slug: string;
            /** Format: date-time */
            updated_at: string;
        };
        PipelineAnswer: {
            hits: components["schemas"]["PipelineHit"][];
            /** @enum {string} */
            mode: "full_text" | "vector" | "hybrid";
            pipeline: string;
        };
        PipelineHit: {
            chunk_id: string;
            citation: string;
            document_id: string;
            document_key: string;
            /** Format: int64 */
            end: number;
            headings?: string[];
            metadata?: {
                [key: string]: unknown;
            };
            /** Format: int64 */
            page?: number;
            /** Format: double */
            score: number;
            source?: string;
            /** Format: int64 */
            start: number;
            text: string;
            /** Format: int64 */
            text_rank?: number;
            title?: string;
            /** Format: int64 */
            vector_rank?: number;
        };
        Price: {
            /** @enum {string} */
            by: "tenant" | "platform";
            /** Format: int64 */
            cached_input_micros?: number;
            /** Format: date-time */
            changed_at: string;
            changed_by: string;
            /** Format: int64 */
            expected_units?: number;
            id: string;
            /** Format: int64 */
            input_micros?: number;
            model?: string;
            /** Format: int64 */
            output_micros?: number;
            /** Format: int64 */
            per_call_micros?: number;
            /** Format: int64 */
            per_unit_micros?: number;
            /** Format: int64 */
            reasoning_micros?: number;
            tool?: string;
            tool_id?: string;
            unit_pointer?: string;
            /** Format: date-time */
            valid_from: string;
            /** Format: date-time */
            valid_until?: string;
            version?: string;
        };
        Problem: {
            /** @enum {string} */
            code: "invalid" | "not_found" | "denied" | "conflict" | "rate_limited" | "unavailable" | "timeout" | "unknown" | "cancelled" | "internal";
            detail?: string;
            errors?: components["schemas"]["FieldError"][];
            instance?: string;
            path?: string;
            permissions?: string[];
            quota?: components["schemas"]["QuotaUse"];
            /** Format: double */
            retry_after_s?: number;
            retryable: boolean;
            /** Format: int64 */
            status: number;
            title: string;
            trace_id?: string;
            type: string;
        };
        Profile: {
            /** Format: int64 */
            assignments: number;
            changed_by: string;
            /** Format: date-time */
            created_at: string;
            denied?: boolean;
            description?: string;
            egress_class?: string;
            id: string;
            /** Format: int64 */
            max_concurrency?: number;
            name: string;
            permission_policy?: string;
            rate?: components["schemas"]["Rate"];
            required_permission?: string;
            requires_approval?: boolean;
            /** Format: int64 */
            revision: number;
            /** Format: date-time */
            updated_at: string;
        };
        PublishGate: {
            changed_by?: string;
            /** Format: int64 */
            max_different: number;
            /** Format: int64 */
            replay: number;
            tool?: string;
        };
        Published: {
            findings?: components["schemas"]["Finding"][];
            tool: components["schemas"]["Tool"];
            version: components["schemas"]["ToolVersion"];
            warnings?: string[];
        };
        PublishedView: {
            changed_by?: string;
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            description?: string;
            /** Format: date-time */
            expires_at: string;
            id: string;
            /** @enum {string} */
            kind: "result" | "tool";
            /** Format: date-time */
            revoked_at?: string;
            /** Format: int64 */
            rotations: number;
            run_id?: string;
            /** @enum {string} */
            status: "live" | "expired" | "revoked" | "suspended";
            title: string;
            token: string;
            tool: string;
            tool_id: string;
            /** Format: date-time */
            updated_at: string;
            url: string;
            version: string;
        };
        Quota: {
            /** Format: date-time */
            changed_at?: string;
            changed_by?: string;
            counts: string;
            /** Format: int64 */
            limit?: number;
            /** @enum {string} */
            name: "tools" | "agents" | "documents" | "storage_bytes" | "artifacts" | "artifact_bytes" | "runs" | "idempotency_keys";
            /** @enum {string} */
            origin: "tenant" | "platform" | "servers" | "none";
            /** Format: int64 */
            used: number;
        };
        QuotaUse: {
            /** Format: int64 */
            limit: number;
            name: string;
            /** Format: int64 */
            used: number;
        };
        Ranked: {
            submission_id: string;
            value: unknown;
        };
        Rate: {
            /** Format: int64 */
            burst?: number;
            /** Format: int64 */
            calls: number;
            /** @enum {string} */
            per: "second" | "minute" | "hour" | "day";
        };
        Reembedding: {
            embedding: components["schemas"]["EmbeddingConfig"];
            /** Format: int64 */
            generation: number;
            /** Format: int64 */
            left?: number;
            workflow_id: string;
        };
        Replay: {
            /** Format: int64 */
            asked: number;
            calls: components["schemas"]["ReplayedCall"][];
            /** Format: int64 */
            different: number;
            digest: string;
            ended: boolean;
            id: string;
            /** Format: int64 */
            same: number;
            /** Format: int64 */
            skipped: number;
            started_by: string;
            tool: string;
            version: string;
        };
        ReplayedCall: {
            differences?: string[];
            invocation_id: string;
            /** Format: int64 */
            is_ms?: number;
            outcome: string;
            reason?: string;
            run_id?: string;
            version: string;
            /** Format: int64 */
            was_ms?: number;
            way: string;
        };
        Role: {
            builtin: boolean;
            /** Format: date-time */
            changed_at?: string;
            changed_by?: string;
            /** Format: date-time */
            created_at?: string;
            created_by?: string;
            description?: string;
            id?: string;
            name: string;
            permissions: string[];
            /** Format: int64 */
            revision?: number;
        };
        Run: {
            agent?: string;
            agent_id?: string;
            agent_version?: string;
            /** Format: int64 */
            calls?: number;
            /** Format: date-time */
            completed_at?: string;
            continues?: components["schemas"]["Continued"];
            /** Format: date-time */
            created_at: string;
            /** Format: int64 */
            depth?: number;
            error?: string;
            error_kind?: string;
            id: string;
            input?: unknown;
            input_requests?: components["schemas"]["InputWait"][];
            /** @enum {string} */
            kind: "agent" | "tool_call" | "tool_test" | "host";
            /** Format: int64 */
            last_seq: number;
            /** @enum {string} */
            mode: "production" | "debug";
            model_retries?: components["schemas"]["ModelRetry"][];
            omitted?: components["schemas"]["Omission"][];
            output?: string;
            parent?: components["schemas"]["Parent"];
            paused?: components["schemas"]["Paused"];
            /** Format: date-time */
            started_at?: string;
            /** @enum {string} */
            status: "pending" | "running" | "completed" | "failed" | "cancelled" | "hosted";
            subject?: string;
            taint?: components["schemas"]["Taint"];
            tool?: string;
            tools?: components["schemas"]["Pin"][];
            /** Format: int64 */
            turns: number;
            waits?: components["schemas"]["CallWait"][];
            waits_for?: string[];
            warning?: string;
            workflow_id: string;
        };
        SavedTool: {
            /** Format: date-time */
            archived_at?: string;
            archived_by?: string;
            artifact_id?: string;
            artifact_version?: string;
            builtin_key?: string;
            category?: string;
            /** Format: date-time */
            created_at: string;
            description: string;
            effective?: components["schemas"]["Effective"];
            egress_class: string;
            egress_rules?: components["schemas"]["ToolEgressRules"];
            execution: components["schemas"]["ToolExecution"];
            icon?: string;
            id: string;
            implementation_config?: unknown;
            /** @enum {string} */
            implementation_type: "internal" | "http" | "function" | "rag_retrieval" | "agent_call" | "artifact" | "mcp" | "custom" | "prompt" | "task" | "composition" | "graph" | "client" | "input" | "provider";
            input_schema?: unknown;
            interaction: components["schemas"]["ToolInteraction"];
            is_active: boolean;
            is_system?: boolean;
            name: string;
            /** @enum {string} */
            output_check?: "refuse" | "warn";
            output_schema?: unknown;
            permission_policy: string;
            /** Format: date-time */
            published_at?: string;
            quarantine?: string;
            reads_declared?: components["schemas"]["Declaration"];
            required_permission?: string;
            requires_approval: boolean;
            /** Format: int64 */
            revision: number;
            /** @enum {string} */
            risk: "low" | "medium" | "high";
            /** @enum {string} */
            scope: "tenant" | "global";
            slug: string;
            /** @enum {string} */
            status: "draft" | "published" | "deprecated" | "disabled";
            tenant_slugs?: string[];
            /** @enum {string} */
            tool_type: "built_in" | "mcp" | "artifact" | "custom";
            /** Format: date-time */
            updated_at: string;
            version: string;
            visible: boolean;
            warnings?: string[];
        };
        Schedule: {
            agent: string;
            /** Format: int64 */
            catchup_s: number;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            crons?: string[];
            /** Format: date-time */
            end_at?: string;
            /** Format: int64 */
            every_s?: number;
            id: string;
            input: unknown;
            /** Format: int64 */
            jitter_s?: number;
            live?: components["schemas"]["ScheduleLive"];
            name: string;
            note?: string;
            /** Format: int64 */
            offset_s?: number;
            /** @enum {string} */
            overlap: "skip" | "buffer_one" | "buffer_all" | "cancel_other" | "allow_all";
            paused: boolean;
            /** Format: int64 */
            revision: number;
            /** Format: date-time */
            start_at?: string;
            /** Format: int64 */
            starts_left?: number;
            sync_error?: string;
            synced: boolean;
            time_zone: string;
            /** Format: date-time */
            updated_at: string;
            version?: string;
        };
        ScheduleLive: {
            /** Format: int64 */
            missed: number;
            next: string[];
            /** Format: int64 */
            running: number;
            /** Format: int64 */
            skipped: number;
        };
        ScheduleStart: {
            /** Format: date-time */
            at: string;
            code?: string;
            /** Format: date-time */
            created_at: string;
            id: string;
            reason?: string;
            run_id?: string;
            /** @enum {string} */
            status: "starting" | "started" | "refused";
        };
        ScheduleTimes: {
            time_zone: string;
            times: string[];
        };
        Space: {
            /** Format: date-time */
            archived_at?: string;
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            description?: string;
            id: string;
            /** Format: int64 */
            last_seq: number;
            /** Format: int64 */
            max_hops: number;
            name: string;
            /** Format: int64 */
            revision: number;
            slug: string;
            /** Format: date-time */
            updated_at: string;
        };
        SpaceCall: {
            call_id: string;
            error?: string;
            error_kind?: string;
            /** Format: date-time */
            expires_at?: string;
            input?: unknown;
            output?: unknown;
            tool: string;
            version?: string;
        };
        SpaceMember: {
            added_by?: string;
            /** Format: date-time */
            created_at: string;
            /** @enum {string} */
            kind: "agent" | "person";
            member: string;
            name: string;
        };
        SpaceMessage: {
            call?: components["schemas"]["SpaceCall"];
            /** Format: int64 */
            changed_seq: number;
            /** Format: date-time */
            created_at: string;
            from: string;
            /** Format: int64 */
            hops?: number;
            id: string;
            /** @enum {string} */
            kind: "text" | "tool";
            not_woken?: string;
            run_id?: string;
            /** Format: int64 */
            seq: number;
            /** @enum {string} */
            status: "running" | "requires_action" | "complete" | "failed";
            text?: string;
            /** Format: date-time */
            updated_at: string;
        };
        Step: {
            passed: boolean;
            rule: string;
            saw: string;
        };
        SubmitToken: {
            /** Format: date-time */
            expires_at: string;
            token: string;
        };
        Submitted: {
            agent_id?: string;
            /** Format: date-time */
            answer_by?: string;
            arguments?: unknown;
            call_id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            id: string;
            /** @enum {string} */
            intent?: "render" | "action" | "compute";
            is_async: boolean;
            late?: boolean;
            repeated: boolean;
            requires_response: boolean;
            /** Format: date-time */
            resolved_at?: string;
            result?: components["schemas"]["ToolResult"];
            root_run_id: string;
            run_id: string;
            shown: boolean;
            /** @enum {string} */
            status: "waiting" | "pending" | "resolved" | "expired" | "cancelled";
            subject?: string;
            submitted_by?: string;
            tool: string;
            /** Format: int64 */
            turn: number;
            version: string;
        };
        Taint: {
            /** Format: date-time */
            at: string;
            invocation_id: string;
            run_id: string;
            /** @enum {string} */
            source?: "link";
            tool: string;
            /** Format: int64 */
            turn: number;
            version: string;
        };
        Taxonomy: {
            buckets: components["schemas"]["ToolTerm"][];
            egress_classes: components["schemas"]["ToolTerm"][];
            implementation_types: string[];
            risks: components["schemas"]["ToolTerm"][];
            statuses: components["schemas"]["ToolTerm"][];
            subtypes: components["schemas"]["ToolTerm"][];
        };
        Tenant: {
            /** Format: date-time */
            created_at: string;
            id: string;
            mask_sensitive: boolean;
            mcp_apps_publish_enabled: boolean;
            name: string;
            slug: string;
            /** @enum {string} */
            status: "active" | "suspended";
            /** @enum {string} */
            taint: "off" | "approve" | "deny";
            /** Format: date-time */
            updated_at: string;
        };
        Tool: {
            /** Format: date-time */
            archived_at?: string;
            archived_by?: string;
            artifact_id?: string;
            artifact_version?: string;
            builtin_key?: string;
            category?: string;
            /** Format: date-time */
            created_at: string;
            description: string;
            effective?: components["schemas"]["Effective"];
            egress_class: string;
            egress_rules?: components["schemas"]["ToolEgressRules"];
            execution: components["schemas"]["ToolExecution"];
            icon?: string;
            id: string;
            implementation_config?: unknown;
            /** @enum {string} */
            implementation_type: "internal" | "http" | "function" | "rag_retrieval" | "agent_call" | "artifact" | "mcp" | "custom" | "prompt" | "task" | "composition" | "graph" | "client" | "input" | "provider";
            input_schema?: unknown;
            interaction: components["schemas"]["ToolInteraction"];
            is_active: boolean;
            is_system?: boolean;
            name: string;
            /** @enum {string} */
            output_check?: "refuse" | "warn";
            output_schema?: unknown;
            permission_policy: string;
            /** Format: date-time */
            published_at?: string;
            quarantine?: string;
            reads_declared?: components["schemas"]["Declaration"];
            required_permission?: string;
            requires_approval: boolean;
            /** Format: int64 */
            revision: number;
            /** @enum {string} */
            risk: "low" | "medium" | "high";
            /** @enum {string} */
            scope: "tenant" | "global";
            slug: string;
            /** @enum {string} */
            status: "draft" | "published" | "deprecated" | "disabled";
            tenant_slugs?: string[];
            /** @enum {string} */
            tool_type: "built_in" | "mcp" | "artifact" | "custom";
            /** Format: date-time */
            updated_at: string;
            version: string;
            visible: boolean;
        };
        ToolApp: {
            connect_domains: string[];
            csp: string;
            html: string;
            input_schema?: unknown;
            name: string;
            prefers_border?: boolean;
            remote_name: string;
            resource_domains: string[];
            resource_uri: string;
            tool: string;
            tools: components["schemas"]["AppTool"][];
        };
        ToolChange: {
            /** @enum {string} */
            action: "create" | "update" | "publish" | "deprecate" | "disable" | "enable" | "delete";
            after?: unknown;
            before?: unknown;
            changes: components["schemas"]["Change"][];
            refusal?: string;
            tool: string;
        };
        ToolCheck: {
            advice: string;
            arguments_digest?: string;
            host?: string;
            idempotency_key?: string;
            method?: string;
            /** Format: date-time */
            sent_after?: string;
            /** Format: date-time */
            sent_before?: string;
        };
        ToolConfirmation: {
            /** Format: int64 */
            approvals?: number;
            /** Format: int64 */
            escalate_after_s?: number;
            escalate_to?: string;
            /** Format: int64 */
            expires_s?: number;
            message?: string;
            permission?: string;
            when?: string;
        };
        ToolContent: {
            data?: string;
            json?: unknown;
            mime_type?: string;
            name?: string;
            text?: string;
            type: string;
            uri?: string;
        };
        ToolEgressRules: {
            hosts?: string[];
            /** Format: int64 */
            max_bytes?: number;
            methods?: string[];
            ports?: number[];
        };
        ToolEvent: {
            /** Format: date-time */
            at: string;
            data?: components["schemas"]["AgentInboxTaken"] | components["schemas"]["AgentOutput"] | components["schemas"]["AgentTurnAnswered"] | components["schemas"]["AgentNodeEnded"] | components["schemas"]["AgentModelRetry"] | components["schemas"]["AgentRunEnded"] | components["schemas"]["AgentPauseChanged"] | components["schemas"]["AgentRunStarted"] | components["schemas"]["ToolTaint"] | components["schemas"]["AgentApprovalEscalated"] | components["schemas"]["AgentCallApproved"] | components["schemas"]["AgentCallEnded"] | components["schemas"]["AgentApprovalAsked"] | components["schemas"]["AgentCallOffered"] | components["schemas"]["AgentResultReceived"] | components["schemas"]["AgentCallStarted"] | components["schemas"]["AgentWarning"];
            invocation_id?: string;
            run_id: string;
            /** Format: int64 */
            seq: number;
            type: string;
        };
        ToolExecution: {
            concurrency_group?: string;
            idempotent?: boolean;
            /** Format: int64 */
            inline_bytes?: number;
            is_pure?: boolean;
            lane?: string;
            /** Format: int64 */
            max_attempts?: number;
            /** Format: int64 */
            max_concurrency?: number;
            /** Format: int64 */
            tenant_max_concurrency?: number;
            /** Format: double */
            timeout_s?: number;
            trust?: string;
        };
        ToolFacets: {
            buckets: components["schemas"]["Facet"][];
            categories: components["schemas"]["Facet"][];
            complete: boolean;
            egress_classes: components["schemas"]["Facet"][];
            risks: components["schemas"]["Facet"][];
            statuses: components["schemas"]["Facet"][];
            subtypes: components["schemas"]["Facet"][];
            /** Format: int64 */
            total: number;
        };
        ToolForm: {
            annotations?: unknown;
            app?: boolean;
            /** @enum {string} */
            audience: "model" | "user";
            category?: string;
            confirm: components["schemas"]["Confirm"];
            description: string;
            draft: boolean;
            icon?: string;
            id: string;
            input: unknown;
            /** @enum {string} */
            intent: "render" | "action" | "compute";
            name: string;
            output?: unknown;
            output_sections?: components["schemas"]["ToolOutputSection"][];
            slug: string;
            version: string;
        };
        ToolInteraction: {
            aggregate?: string;
            aliases?: string[];
            annotations?: unknown;
            audience?: string;
            collaborative?: boolean;
            confirmation?: components["schemas"]["ToolConfirmation"];
            default_result?: unknown;
            former_names?: {
                [key: string]: string;
            };
            intent?: string;
            is_async?: boolean;
            middleware?: string[];
            open_input?: boolean;
            output_sections?: unknown;
            provider_options?: unknown;
            requires_response?: boolean;
            risk?: components["schemas"]["ToolRisk"];
            visibility?: string;
            visible?: boolean;
        };
        ToolOutputSection: {
            config?: unknown;
            key: string;
            label?: string;
            type: string;
        };
        ToolOverrides: {
            defaults?: {
                [key: string]: unknown;
            };
            description: string;
            enabled: boolean;
            limits?: components["schemas"]["OverrideLimits"];
            platform?: components["schemas"]["Override"];
            requires_approval: boolean;
            tenant?: components["schemas"]["Override"];
            tool: string;
            tool_id: string;
        };
        ToolResult: {
            content?: components["schemas"]["ToolContent"][];
            is_error?: boolean;
            output_mismatch?: string;
            structured?: unknown;
            warnings?: string[];
        };
        ToolRisk: {
            data?: string[];
            level?: string;
            reason?: string;
        };
        ToolSession: {
            aggregate: string;
            changed_by?: string;
            config: unknown;
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            /** Format: date-time */
            ended_at?: string;
            entity_ids: string[];
            id: string;
            /** Format: date-time */
            link_until?: string;
            linked: boolean;
            /** @enum {string} */
            status: "active" | "completed" | "cancelled";
            /** Format: int64 */
            submissions: number;
            title: string;
            tool: string;
            tool_id: string;
            /** Format: date-time */
            updated_at: string;
            version: string;
        };
        ToolSessionAggregate: {
            function: string;
            groups?: components["schemas"]["Group"][];
            /** Format: int64 */
            left_out?: number;
            /** Format: int64 */
            more?: number;
            of?: string;
            output?: unknown;
            ranked?: components["schemas"]["Ranked"][];
            run_id?: string;
            /** Format: int64 */
            submissions: number;
            tool?: string;
            value?: unknown;
        };
        ToolSubmission: {
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            ended_at?: string;
            error?: string;
            guest?: string;
            id: string;
            input: unknown;
            output?: unknown;
            session_id: string;
            /** @enum {string} */
            status: "running" | "completed" | "failed";
            subject: string;
            untrusted: boolean;
        };
        ToolTaint: {
            /** Format: date-time */
            at: string;
            invocation_id: string;
            rule?: string;
            run_id: string;
            source?: string;
            tool: string;
            /** Format: int64 */
            turn: number;
            version: string;
        };
        ToolTerm: {
            description: string;
            label: string;
            name: string;
        };
        ToolUsage: {
            candidate: string;
            items: components["schemas"]["ToolUse"][];
            next?: string;
            runs: string[];
            tool: string;
            tool_id: string;
        };
        ToolUse: {
            changes?: components["schemas"]["Change"][];
            constraint?: string;
            gets?: string;
            id: string;
            /** @enum {string} */
            kind: "agent" | "tool" | "toolset" | "schedule" | "assignment" | "profile";
            name: string;
            published: boolean;
            reason: string;
            status?: string;
            through?: string;
            /** @enum {string} */
            verdict: "stays" | "moves" | "breaks" | "none";
            version?: string;
            without: string;
            would_get?: string;
        };
        ToolVersion: {
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            definition: components["schemas"]["Definition"];
            digest: string;
            id: string;
            published: boolean;
            /** Format: date-time */
            published_at?: string;
            reads_declared?: components["schemas"]["Declaration"];
            slug: string;
            tool_id: string;
            version: string;
            /** Format: int64 */
            withheld?: number;
        };
        Toolset: {
            /** @enum {string} */
            catalog: "auto" | "all" | "search";
            changed_by?: string;
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            id: string;
            instructions?: string;
            name: string;
            path: string;
            /** Format: int64 */
            revision: number;
            servers: string[];
            slug: string;
            /** @enum {string} */
            status: "active" | "disabled";
            tools: components["schemas"]["ToolsetTool"][];
            /** Format: date-time */
            updated_at: string;
        };
        ToolsetTool: {
            readonly id?: string;
            tool: string;
            version?: string;
        };
        Usage: {
            agent?: string;
            agent_id?: string;
            /** Format: int64 */
            cached_input_tokens: number;
            /** Format: int64 */
            call_ms: number;
            /** Format: int64 */
            calls: number;
            /** Format: int64 */
            cost_micros: number;
            day?: string;
            /** Format: int64 */
            failed_calls: number;
            /** Format: int64 */
            input_tokens: number;
            model?: string;
            /** Format: int64 */
            output_tokens: number;
            /** Format: int64 */
            reasoning_tokens: number;
            tool?: string;
            /** Format: int64 */
            turns: number;
            /** Format: int64 */
            unpriced_turns: number;
        };
        UsageReport: {
            from: string;
            group_by: string[];
            items: components["schemas"]["Usage"][];
            to: string;
            total: components["schemas"]["Counts"];
        };
        View: {
            changed_by?: string;
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            description?: string;
            /** Format: date-time */
            expires_at: string;
            id: string;
            /** @enum {string} */
            kind: "result" | "tool";
            /** Format: date-time */
            revoked_at?: string;
            /** Format: int64 */
            rotations: number;
            run_id?: string;
            /** @enum {string} */
            status: "live" | "expired" | "revoked" | "suspended";
            title: string;
            tool: string;
            tool_id: string;
            /** Format: date-time */
            updated_at: string;
            version: string;
        };
        Weakened: {
            /** @enum {string} */
            dialect: "openai" | "openai_strict" | "anthropic" | "gemini";
            lost?: string[];
            refused?: string;
        };
        Webhook: {
            active: boolean;
            agent?: string;
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            /** Format: date-time */
            delivered_at?: string;
            description?: string;
            /** Format: date-time */
            disabled_at?: string;
            disabled_reason?: string;
            /** Format: date-time */
            failing_since?: string;
            id: string;
            /** Format: date-time */
            old_secret_until?: string;
            /** Format: int64 */
            revision: number;
            /** Format: int64 */
            secret_version: number;
            tool?: string;
            types: ("tool.needs_approval" | "tool.approved" | "tool.rejected" | "tool.approval_escalated" | "tool.expired" | "tool.pending" | "run.completed" | "run.failed" | "run.cancelled" | "tool.quarantined" | "run.tainted" | "budget.threshold" | "tool.canary_returned" | "webhook.disabled")[];
            /** Format: date-time */
            updated_at: string;
            url: string;
        };
        WebhookSecret: {
            active: boolean;
            agent?: string;
            /** Format: date-time */
            created_at: string;
            created_by?: string;
            /** Format: date-time */
            delivered_at?: string;
            description?: string;
            /** Format: date-time */
            disabled_at?: string;
            disabled_reason?: string;
            /** Format: date-time */
            failing_since?: string;
            id: string;
            /** Format: date-time */
            old_secret_until?: string;
            /** Format: int64 */
            revision: number;
            secret: string;
            /** Format: int64 */
            secret_version: number;
            tool?: string;
            types: ("tool.needs_approval" | "tool.approved" | "tool.rejected" | "tool.approval_escalated" | "tool.expired" | "tool.pending" | "run.completed" | "run.failed" | "run.cancelled" | "tool.quarantined" | "run.tainted" | "budget.threshold" | "tool.canary_returned" | "webhook.disabled")[];
            /** Format: date-time */
            updated_at: string;
            url: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
