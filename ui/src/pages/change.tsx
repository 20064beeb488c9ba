// A change before it is made: paste or drop YAML, see what traffic and protection it takes, findings, guardrails.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Preview } from '../types';
import { Failure, post } from '../api';
import { useApp } from '../context';
import { Failed, Loading, PageTitle } from '../parts/notice';
import { PreviewResult } from '../parts/preview';

// What is typed stays while another page is shown.
let kept = { body: '', isDelete: false };
let previewed: { body: string; isDelete: boolean; result: Preview } | null = null;

const EXAMPLE = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: …`;

export function ChangePage() {
  const { generation, state } = useApp();
  const [body, setBody] = useState(kept.body);
  const [isDelete, setDelete] = useState(kept.isDelete);
  const [asked, setAsked] = useState(previewed ? { body: previewed.body, isDelete: previewed.isDelete } : null);
  const [result, setResult] = useState<Preview | null>(previewed?.result ?? null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isLoading, setLoading] = useState(false);
  const [isOver, setOver] = useState(false);
  const file = useRef<HTMLInputElement>(null);
  kept = { body, isDelete };
  useEffect(() => {
    if (!asked) return undefined;
    const control = new AbortController();
    setLoading(true);
    post<Preview>(`change${asked.isDelete ? '?delete=true' : ''}`, asked.body, control.signal).then(
      (found) => {
        previewed = { ...asked, result: found };
        setResult(found);
        setFailure(null);
        setLoading(false);
      },
      (error: unknown) => {
        if (control.signal.aborted) return;
        setFailure(error instanceof Failure ? error : new Failure(0, String(error), false));
        if (!(error instanceof Failure) || error.status !== 0) setResult(null);
        setLoading(false);
      },
    );
    return () => control.abort();
  }, [asked, generation]);
  const preview = (event?: Event) => {
    event?.preventDefault();
    if (body.trim() !== '') setAsked({ body, isDelete });
  };
  const read = async (files: FileList | null | undefined) => {
    if (!files?.length) return;
    const texts = await Promise.all([...files].map((one) => one.text()));
    setBody(texts.map((text) => text.trim()).join('\n---\n'));
  };
  const isStale = asked !== null && (asked.body !== body || asked.isDelete !== isDelete);
  return (
    <>
      <PageTitle title="Change">Paste or drop YAML to see what it would change. Nothing is written to {state.mode === 'cluster' ? 'the cluster' : 'the directory'}.</PageTitle>
      <form class="change-form" onSubmit={preview} onKeyDown={(event) => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) preview(); }}>
        <div class={`drop ${isOver ? 'over' : ''}`}
          onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)}
          onDrop={(event) => { event.preventDefault(); setOver(false); void read(event.dataTransfer?.files); }}>
          <label class="hidden" for="change-body">Objects as YAML</label>
          <textarea id="change-body" data-search rows={12} value={body} placeholder={EXAMPLE} spellcheck={false} onInput={(event) => setBody(event.currentTarget.value)} />
        </div>
        <div class="form-row">
          <fieldset class="group"><legend class="hidden">What to do with these objects</legend>
            <label class={isDelete ? '' : 'on'}><input type="radio" name="what" checked={!isDelete} onChange={() => setDelete(false)} />Apply</label>
            <label class={isDelete ? 'on' : ''}><input type="radio" name="what" checked={isDelete} onChange={() => setDelete(true)} />Delete</label>
          </fieldset>
          <button type="submit" class="primary" disabled={body.trim() === ''}>Preview</button>
          <button type="button" onClick={() => file.current?.click()}>Open files …</button>
          <input ref={file} type="file" multiple hidden tabIndex={-1} aria-label="Files with objects" accept=".yaml,.yml,.json" onChange={(event) => { void read(event.currentTarget.files); }} />
          <span class="faint">{isStale ? 'The text has changed since this preview.' : 'Ctrl+Enter previews.'}</span>
        </div>
      </form>
      {failure && <Failed failure={failure} />}
      {isLoading && !result && <Loading what="the preview" />}
      {result && <div class={isStale ? 'stale' : undefined} aria-live="polite"><PreviewResult of={result} /></div>}
    </>
  );
}
