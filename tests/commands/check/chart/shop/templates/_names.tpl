{{- define "shop.target" -}}
group: gateway.networking.k8s.io
kind: Gateway
name: {{ .Values.gateway.name }}
{{- end }}
