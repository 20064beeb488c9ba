// The list of keys, and the form for a token.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { SHORTCUTS } from '../keys';

export function Keys({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the page is painted: nobody sees the list and presses a key that it does not get.
  useLayoutEffect(() => { dialog.current?.showModal(); }, []);
  return (
    <dialog ref={dialog} class="keys" aria-labelledby="keys-title" onClose={onClose} onClick={(event) => { if (event.target === dialog.current) dialog.current?.close(); }}>
      <div class="dialog-body">
        <div class="card-title"><h2 id="keys-title">Keys</h2><button type="button" aria-label="Close" title="Close (Esc)" onClick={() => dialog.current?.close()}>×</button></div>
        <div class="keys-columns">
          {SHORTCUTS.map((group) => (
            <section key={group.title}>
              <h3>{group.title}</h3>
              <dl>{group.of.map(({ keys, words }) => <div key={words}><dt>{keys.map((key) => <kbd key={key}>{key}</kbd>)}</dt><dd>{words}</dd></div>)}</dl>
            </section>
          ))}
        </div>
      </div>
    </dialog>
  );
}

export function SignIn({ message, onToken }: { message: string; onToken: (token: string) => void }) {
  const [token, setToken] = useState('');
  return (
    <main class="sign-in">
      <form class="card" onSubmit={(event) => { event.preventDefault(); if (token.trim() !== '') onToken(token); }}>
        <h1>attache</h1>
        <p>This page shows what you may read in the cluster. Paste a token of yours; it stays in this page only, until you close or reload it.</p>
        <p class="faint">For example: <code>kubectl create token NAME -n NAMESPACE</code></p>
        <label>Token<input type="password" value={token} autocomplete="off" spellcheck={false} onInput={(event) => setToken(event.currentTarget.value)} /></label>
        {message && <p class="bad" role="alert">{message}</p>}
        <button type="submit" class="primary">Sign in</button>
      </form>
    </main>
  );
}
