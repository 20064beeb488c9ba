{{- define "attache.labels" -}}
app.kubernetes.io/name: attache
app.kubernetes.io/part-of: attache
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* repository:tag, or repository:tag@digest */}}
{{- define "attache.image" -}}
{{- $image := .Values.image -}}
{{- printf "%s:%s" $image.repository ($image.tag | default .Chart.AppVersion) -}}
{{- if $image.digest -}}@{{ $image.digest }}{{- end -}}
{{- end -}}

{{/*
What values say of the pods of attache and of its audit:  include "attache.pod" (list $ $podSpec)
*/}}
{{- define "attache.pod" -}}
{{- $values := (index . 0).Values -}}
{{- $pod := index . 1 -}}
{{- $container := first $pod.containers -}}
{{- $_ := set $container "image" (include "attache.image" (index . 0)) -}}
{{- $_ := set $container "imagePullPolicy" $values.image.pullPolicy -}}
{{- $_ := set $pod "nodeSelector" $values.nodeSelector -}}
{{- range $field := list "imagePullSecrets" "tolerations" "affinity" -}}
{{- with index $values $field -}}
{{- $_ := set $pod $field . -}}
{{- end -}}
{{- end -}}
{{- with $values.env -}}
{{- $_ := set $container "env" . -}}
{{- end -}}
{{- end -}}

{{/* A memory limit in MiB. values.schema.json allows only Mi and Gi. */}}
{{- define "attache.mebibytes" -}}
{{- if hasSuffix "Gi" . -}}{{ mul 1024 (trimSuffix "Gi" . | int) }}{{- else -}}{{ trimSuffix "Mi" . | int }}{{- end -}}
{{- end -}}

{{/* Addresses as peers of a NetworkPolicy. */}}
{{- define "attache.blocks" -}}
{{- range . }}
- ipBlock:
    cidr: {{ . | quote }}
{{- end -}}
{{- end -}}
