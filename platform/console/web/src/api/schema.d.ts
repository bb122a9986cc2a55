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
        BrowserTenant: {
            name?: string;
            slug: string;
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
        Explanation: {
            code?: string;
            detail?: string;
            digest?: string;
            draft?: boolean;
            mode: string;
            reads_declared?: components["schemas"]["Declaration"];
            ref: string;
            shadows?: boolean;
            slug?: string;
            steps: components["schemas"]["Step"][];
            tool_id?: string;
            version?: string;
            weakened?: components["schemas"]["Weakened"][];
        };
        Feature: {
            available: boolean;
            because?: string;
            name: string;
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
        Omission: {
            kind: string;
            reason: string;
            tool: string;
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
            tools?: components["schemas"]["Pin"][];
            /** Format: int64 */
            turns: number;
            waits?: components["schemas"]["CallWait"][];
            waits_for?: string[];
            warning?: string;
            workflow_id: string;
        };
        Step: {
            passed: boolean;
            rule: string;
            saw: string;
        };
        Tool: {
            artifact_id?: string;
            artifact_version?: string;
            builtin_key?: string;
            category?: string;
            /** Format: date-time */
            created_at: string;
            description: string;
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
            data?: components["schemas"]["AgentInboxTaken"] | components["schemas"]["AgentOutput"] | components["schemas"]["AgentTurnAnswered"] | components["schemas"]["AgentNodeEnded"] | components["schemas"]["AgentModelRetry"] | components["schemas"]["AgentRunEnded"] | components["schemas"]["AgentPauseChanged"] | components["schemas"]["AgentRunStarted"] | components["schemas"]["AgentApprovalEscalated"] | components["schemas"]["AgentCallApproved"] | components["schemas"]["AgentCallEnded"] | components["schemas"]["AgentApprovalAsked"] | components["schemas"]["AgentCallOffered"] | components["schemas"]["AgentResultReceived"] | components["schemas"]["AgentCallStarted"] | components["schemas"]["AgentWarning"];
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
