{{- define "store.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "store.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end }}

{{- define "store.name" -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "store.image" -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}

{{- define "store.clusterSecret" -}}
{{- required "cluster.secretName is required with mode=cluster: a Secret with STORE_RECORDS, STORE_BLOBS and STORE_SECRET_KEY" .Values.cluster.secretName }}
{{- end }}

{{- define "store.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "store.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* The pod of a server; `volumes` of the caller has the data directory. */ -}}
{{- define "store.pod" -}}
securityContext: {{- include "store.podSecurity" . | nindent 2 }}
automountServiceAccountToken: false
# Requests in flight are finished first.
terminationGracePeriodSeconds: 45
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: store
    image: {{ include "store.image" . | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    args:
      - serve
      - --host
      - 0.0.0.0
      {{- with .Values.extraArgs }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- if eq .Values.mode "cluster" }}
    env:
      # The image sets a directory, which a cluster does not have.
      - { name: STORE_DATA, value: "" }
    envFrom:
      - secretRef: { name: {{ include "store.clusterSecret" . | quote }} }
    {{- else if .Values.secretKey.secretName }}
    env:
      - name: STORE_SECRET_KEY
        valueFrom: { secretKeyRef: { name: {{ .Values.secretKey.secretName | quote }}, key: STORE_SECRET_KEY } }
    {{- end }}
    ports:
      - { name: s3, containerPort: 9000 }
      - { name: console, containerPort: 9001 }
      - { name: public, containerPort: 9002 }
    startupProbe:
      httpGet: { path: /healthz, port: console }
      periodSeconds: 2
      failureThreshold: 150
    readinessProbe:
      httpGet: { path: /readyz, port: console }
      periodSeconds: 5
      timeoutSeconds: 6
    livenessProbe:
      httpGet: { path: /healthz, port: console }
      periodSeconds: 20
      timeoutSeconds: 10
      failureThreshold: 6
    securityContext: {{- include "store.containerSecurity" . | nindent 6 }}
    {{- with .Values.resources }}
    resources: {{- toYaml . | nindent 6 }}
    {{- end }}
    volumeMounts:
      - { name: data, mountPath: /data }
      - { name: tmp, mountPath: /tmp }
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
