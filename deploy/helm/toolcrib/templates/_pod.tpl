{{- /* What every pod has: nobody's user, no token, no privileges. */ -}}
{{- define "toolcrib.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "toolcrib.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "toolcrib.secretVariable" -}}
- name: {{ .name }}
  valueFrom: {secretKeyRef: {name: {{ .secret }}, key: {{ .key }}}}
{{ end }}

{{- /* The variables of servers and workers. */ -}}
{{- define "toolcrib.env" -}}
{{ include "toolcrib.secretVariable" (dict "name" "TOOLCRIB_DATABASE_URL" "secret" .Values.database.existingSecret "key" .Values.database.urlKey) }}
- name: TEMPORAL_ADDRESS
  value: {{ .Values.temporal.address | quote }}
- name: TEMPORAL_NAMESPACE
  value: {{ .Values.temporal.namespace | quote }}
- name: TOOLCRIB_TASK_QUEUE
  value: {{ .Values.temporal.taskQueue | quote }}
{{- if .Values.temporal.tls }}
- name: TEMPORAL_TLS
  value: "true"
{{- end }}
{{- with .Values.temporal.apiKeySecret }}
{{ include "toolcrib.secretVariable" (dict "name" "TEMPORAL_API_KEY" "secret" . "key" "api-key") }}
{{- end }}
{{- if .Values.temporal.clientCertSecret }}
- name: TEMPORAL_TLS_CLIENT_CERT_PATH
  value: /etc/toolcrib/temporal/tls.crt
- name: TEMPORAL_TLS_CLIENT_KEY_PATH
  value: /etc/toolcrib/temporal/tls.key
{{- end }}
{{- with .Values.encryption.existingSecret }}
{{ include "toolcrib.secretVariable" (dict "name" "TOOLCRIB_KEK" "secret" . "key" $.Values.encryption.key) }}
{{- end }}
{{- with .Values.payloads.existingSecret }}
{{ include "toolcrib.secretVariable" (dict "name" "TOOLCRIB_PAYLOAD_KEYS" "secret" . "key" $.Values.payloads.key) }}
{{- end }}
{{- with .Values.payloads.codecOrigins }}
- name: TOOLCRIB_CODEC_ORIGINS
  value: {{ join "," . | quote }}
{{- end }}
{{- if .Values.settings }}
- name: TOOLCRIB_SETTINGS
  value: /etc/toolcrib/settings/settings.yaml
{{- end }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "toolcrib.envFrom" -}}
{{- with .Values.envFromSecrets }}
envFrom:
{{- range . }}
  - secretRef: {name: {{ . }}}
{{- end }}
{{- end }}
{{- end }}

{{- define "toolcrib.mounts" -}}
- {name: tmp, mountPath: /tmp}
{{- if .Values.settings }}
- {name: settings, mountPath: /etc/toolcrib/settings, readOnly: true}
{{- end }}
{{- if .Values.temporal.clientCertSecret }}
- {name: temporal, mountPath: /etc/toolcrib/temporal, readOnly: true}
{{- end }}
{{- end }}

{{- define "toolcrib.volumes" -}}
- name: tmp
  emptyDir: {}
{{- if .Values.settings }}
- name: settings
  configMap: {name: {{ include "toolcrib.fullname" . }}-settings}
{{- end }}
{{- with .Values.temporal.clientCertSecret }}
- name: temporal
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- end }}

{{- /* Settings are read when a process starts: pods begin anew when they change. */ -}}
{{- define "toolcrib.annotations" -}}
{{- with .Values.settings -}}
annotations:
  toolcrib/settings: {{ toJson . | sha256sum }}
{{- end }}
{{- end }}

{{- define "toolcrib.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: {{ . }}}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: {{ . }}}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: {{ . }}}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 3
{{- end }}

{{- define "toolcrib.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with .affinity }}
affinity: {{ toJson . }}
{{- end }}
{{- end }}
