{{/* The labels of every object, beside its own. */}}
{{- define "billhook.labels" -}}
app.kubernetes.io/part-of: billhook
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The image of a service: its own digest, or the tag of all. */}}
{{- define "billhook.image" -}}
{{- $image := .root.Values.image -}}
{{- $name := printf "%s/%s" $image.repository .service -}}
{{- with $image.registry }}{{ $name = printf "%s/%s" . $name }}{{ end -}}
{{- $digest := index ($image.digests | default dict) .service -}}
{{- if $digest }}{{ $name }}@{{ $digest }}{{ else }}{{ $name }}:{{ $image.tag | default .root.Chart.AppVersion }}{{ end -}}
{{- end }}

{{/* The profile of system calls of the renderer: Chromium's own sandbox needs one that allows namespaces. */}}
{{- define "billhook.rendererSeccomp" -}}
{{- if .Values.renderer.sandbox.enabled -}}
type: Localhost
localhostProfile: {{ .Values.renderer.sandbox.profile }}
{{- else -}}
type: RuntimeDefault
{{- end }}
{{- end }}

{{/* A class of priority belongs to the cluster: a second installation takes another name. */}}
{{- define "billhook.priorityClass" -}}
{{ .name | replace "billhook" .root.Values.priority.name }}
{{- end }}
