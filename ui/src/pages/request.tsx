// A request: which Gateway, listener, route, rule and backend serve it, why no others, and the policies in force.
import { useEffect, useState } from 'preact/hooks';
import type { Explanation } from '../types';
import { useApp } from '../context';
import { useData } from '../data';
import { quoted } from '../names';
import { go, hashOf, type Route } from '../route';
import { Commands } from '../parts/copy';
import { Empty, Failed, Loading, PageTitle } from '../parts/notice';
import { ServedStep, UnservedList } from '../parts/request-path';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'CONNECT', 'TRACE'];
// What is typed stays while another page is shown.
let typed: { url: string; method: string; headers: string } | null = null;

export function RequestPage({ route }: { route: Route }) {
  const { state } = useApp();
  const asked = { url: route.query.get('url') ?? '', method: route.query.get('method') ?? 'GET', headers: route.query.getAll('header') };
  const key = route.query.toString();
  const [form, setForm] = useState(typed ?? { ...asked, headers: asked.headers.join('\n') });
  useEffect(() => {
    if (asked.url !== '') setForm({ ...asked, headers: asked.headers.join('\n') });
  }, [key]);
  const change = (part: Partial<typeof form>) => {
    typed = { ...form, ...part };
    setForm(typed);
  };
  const submit = (event?: Event) => {
    event?.preventDefault();
    if (form.url.trim() === '') return;
    const query = new URLSearchParams({ url: withScheme(form.url.trim()), method: form.method });
    for (const line of form.headers.split('\n').map((one) => one.trim()).filter(Boolean)) query.append('header', line);
    go(hashOf('request', [], query));
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
  };
  const loaded = useData<Explanation>(asked.url === '' ? null : `explain?${key}`);
  return (
    <>
      <PageTitle title="Request">Type a request to see what serves it, and which policies are in force on it. Nothing is sent.</PageTitle>
      <form class="request-form" onSubmit={submit} onKeyDown={onKey}>
        <label>Method<select value={form.method} onChange={(event) => change({ method: event.currentTarget.value })}>{METHODS.map((method) => <option key={method}>{method}</option>)}</select></label>
        <label class="grow">URL<input data-search type="text" inputMode="url" value={form.url} placeholder="https://shop.example.com/cart" autocomplete="off" spellcheck={false} onInput={(event) => change({ url: event.currentTarget.value })} /></label>
        <button type="submit" class="primary">Explain</button>
        <label class="headers">Headers, one a line<textarea rows={2} value={form.headers} placeholder="x-tenant: blue" spellcheck={false} onInput={(event) => change({ headers: event.currentTarget.value })} /></label>
      </form>
      {asked.url === '' && <Empty title="No request yet.">Type the URL that a client calls, for example <code>https://shop.example.com/cart</code>, and press Enter. In a mesh: <code>http://cart.shop.svc:8080/</code>.</Empty>}
      {loaded.failure && <Failed failure={loaded.failure} />}
      {asked.url !== '' && !loaded.data && !loaded.failure && <Loading what="the path of the request" />}
      {loaded.data && <Result of={loaded.data} />}
      {asked.url !== '' && <section><h2>Commands</h2><Commands of={[commandOf(asked, state.commandArguments)]} /></section>}
    </>
  );
}

const withScheme = (url: string) => (/^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `https://${url}`);

function commandOf({ url, method, headers }: { url: string; method: string; headers: string[] }, selection: string[]): string {
  const words = ['attache', 'explain', quoted(url)];
  if (method !== 'GET') words.push('-X', method);
  for (const header of headers) words.push('-H', quoted(header));
  return [...words, ...selection.map(quoted)].join(' ');
}

function Result({ of }: { of: Explanation }) {
  return (
    <div aria-live="polite">
      <p class={`verdict ${of.served ? 'served' : 'unserved'}`}>{of.served ? 'Served' : 'Not served'}: <code>{of.request.method} {of.request.scheme}://{of.request.host}{of.request.path}</code></p>
      {of.steps.map((step, i) => <ServedStep key={i} of={step} />)}
      {of.unserved.length > 0 && <UnservedList of={of.unserved} isServed={of.served} />}
    </div>
  );
}
