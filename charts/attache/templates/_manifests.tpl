{{/*
The objects of files below manifests/, which `kubectl apply -k manifests` installs too. The templates read them from there
and write down only what a value changes.
*/}}

{{/* Kinds that have no namespace. */}}
{{- define "attache.clusterScoped" -}}
{{- list "ClusterRole" "ClusterRoleBinding" "ValidatingWebhookConfiguration" "MutatingWebhookConfiguration"
  "ValidatingAdmissionPolicy" "ValidatingAdmissionPolicyBinding" "CustomResourceDefinition" | toJson -}}
{{- end -}}

{{/*
The objects of one file as a list, in the namespace of the release and with the labels of the chart.
    include "attache.objects" (list $ "base/service.yaml") | fromYamlArray
*/}}
{{- define "attache.objects" -}}
{{- $root := index . 0 -}}
{{- $path := printf "manifests/%s" (index . 1) -}}
{{- $text := $root.Files.Get $path -}}
{{- if not $text -}}
{{- fail (printf "the chart has no file %s" $path) -}}
{{- end -}}
{{- $objects := list -}}
{{- range regexSplit "(?m)^---$" ($text | replace "attache-system" $root.Release.Namespace) -1 -}}
{{- $object := fromYaml . -}}
{{- $_ := include "attache.placed" (list $root $object) -}}
{{- $objects = append $objects $object -}}
{{- end -}}
{{- toYaml $objects -}}
{{- end -}}

{{/* The first object of a file:  include "attache.object" (list $ "base/service.yaml") | fromYaml */}}
{{- define "attache.object" -}}
{{- include "attache.objects" . | fromYamlArray | first | toYaml -}}
{{- end -}}

{{/* Gives an object the labels of the chart, and its namespace if its kind has one. */}}
{{- define "attache.placed" -}}
{{- $root := index . 0 -}}
{{- $object := index . 1 -}}
{{- $own := $object.metadata.labels | default dict -}}
{{- $_ := set $object.metadata "labels" (merge $own (include "attache.labels" $root | fromYaml)) -}}
{{- if not (has $object.kind (include "attache.clusterScoped" . | fromJsonArray)) -}}
{{- $_ := set $object.metadata "namespace" $root.Release.Namespace -}}
{{- end -}}
{{- end -}}

{{/* Prints the objects of these files as they are:  include "attache.files" (list $ "base/rbac.yaml") */}}
{{- define "attache.files" -}}
{{- $root := first . -}}
{{- range $path := rest . -}}
{{- range include "attache.objects" (list $root $path) | fromYamlArray }}
---
{{ toYaml . }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
Does to the Deployment what a component of manifests/ does: adds arguments, mounts and volumes.
    include "attache.component" (list $ $deployment "own-certificates")
*/}}
{{- define "attache.component" -}}
{{- $pod := (index . 1).spec.template.spec -}}
{{- $container := first $pod.containers -}}
{{- $component := (index . 0).Files.Get (printf "manifests/%s/kustomization.yaml" (index . 2)) | fromYaml -}}
{{- range $patch := $component.patches -}}
{{- if eq $patch.target.kind "Deployment" -}}
{{- range $change := fromYamlArray $patch.patch -}}
{{- $list := base (dir $change.path) -}}
{{- $owner := eq $list "volumes" | ternary $pod $container -}}
{{- if not (and (eq $change.op "add") (hasSuffix "/-" $change.path) (hasKey $owner $list)) -}}
{{- fail (printf "the chart cannot do what %s does at %s" (index $ 2) $change.path) -}}
{{- end -}}
{{- $_ := set $owner $list (append (get $owner $list) $change.value) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
