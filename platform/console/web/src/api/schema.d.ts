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
        Approval: {
            agent?: string;
            arguments?: unknown;
            batch: string;
            binding: string;
            call_id: string;
            change?: components["schemas"]["ToolChange"];
            /** Format: date-time */
            created_at: string;
            credential?: string;
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
        BrowserTenant: {
            name?: string;
            slug: string;
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
            valid: boolean;
            exists: boolean;
            error?: components["schemas"]["Problem"];
            warnings?: string[];
            findings?: components["schemas"]["Finding"][];
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
            implementation_type: "internal" | "http" | "function" | "rag_retrieval" | "mcp" | "custom" | "agent_call" | "task" | "composition" | "graph" | "artifact" | "prompt" | "client" | "input" | "provider";
            input_schema?: unknown;
            interaction: components["schemas"]["ToolInteraction"];
            name: string;
            /** @enum {string} */
            output_check?: "refuse" | "warn";
            output_schema?: unknown;
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
            implementation_type?: "internal" | "http" | "function" | "rag_retrieval" | "mcp" | "custom" | "agent_call" | "task" | "composition" | "graph" | "artifact" | "prompt" | "client" | "input" | "provider";
            input?: unknown;
            is_error: boolean;
            mode: string;
            output?: components["schemas"]["ToolResult"];
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
        Loss: {
            pointer?: string;
            reason: string;
        };
        Me: {
            features: components["schemas"]["Feature"][];
            permissions: string[];
            subject?: string;
            tenant?: components["schemas"]["BrowserTenant"];
            tenants: components["schemas"]["BrowserTenant"][];
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
        Pin: {
            digest: string;
            /** @enum {string} */
            implementation_type: "internal" | "http" | "function" | "rag_retrieval" | "mcp" | "custom" | "agent_call" | "task" | "composition" | "graph" | "artifact" | "prompt" | "client" | "input" | "provider";
            tool: string;
            version: string;
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
        QuotaUse: {
            /** Format: int64 */
            limit: number;
            name: string;
            /** Format: int64 */
            used: number;
        };
        Rate: {
            /** Format: int64 */
            burst?: number;
            /** Format: int64 */
            calls: number;
            /** @enum {string} */
            per: "second" | "minute" | "hour" | "day";
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
            implementation_type: "internal" | "http" | "function" | "rag_retrieval" | "mcp" | "custom" | "agent_call" | "task" | "composition" | "graph" | "artifact" | "prompt" | "client" | "input" | "provider";
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
        Step: {
            passed: boolean;
            rule: string;
            saw: string;
        };
        Taint: {
            /** Format: date-time */
            at: string;
            invocation_id: string;
            run_id: string;
            tool: string;
            /** Format: int64 */
            turn: number;
            version: string;
        };
        Taxonomy: {
            buckets: components["schemas"]["ToolTerm"][];
            subtypes: components["schemas"]["ToolTerm"][];
            egress_classes: components["schemas"]["ToolTerm"][];
            risks: components["schemas"]["ToolTerm"][];
            statuses: components["schemas"]["ToolTerm"][];
            implementation_types: string[];
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
            implementation_type: "internal" | "http" | "function" | "rag_retrieval" | "mcp" | "custom" | "agent_call" | "task" | "composition" | "graph" | "artifact" | "prompt" | "client" | "input" | "provider";
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
            /** Format: int64 */
            total: number;
            complete: boolean;
            buckets: components["schemas"]["Facet"][];
            subtypes: components["schemas"]["Facet"][];
            egress_classes: components["schemas"]["Facet"][];
            risks: components["schemas"]["Facet"][];
            statuses: components["schemas"]["Facet"][];
            categories: components["schemas"]["Facet"][];
        };
        ToolForm: {
            annotations?: unknown;
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
        ToolTaint: {
            /** Format: date-time */
            at: string;
            invocation_id: string;
            rule?: string;
            run_id: string;
            tool: string;
            /** Format: int64 */
            turn: number;
            version: string;
        };
        ToolTerm: {
            name: string;
            label: string;
            description: string;
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
        Weakened: {
            /** @enum {string} */
            dialect: "openai" | "openai_strict" | "anthropic" | "gemini";
            lost?: string[];
            refused?: string;
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
