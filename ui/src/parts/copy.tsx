// Texts to copy: commands, YAML, links.
import { useApp } from '../context';

export function CopyButton({ words, label }: { words: string; label: string }) {
  const { say } = useApp();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(words);
      say('Copied');
    } catch {
      say('The browser does not allow this page to copy. Select the text and copy it.');
    }
  };
  return <button type="button" class="copy" aria-label={`Copy ${label}`} onClick={() => { void copy(); }}>Copy</button>;
}

export function Commands({ of }: { of: string[] }) {
  return (
    <ul class="commands">
      {of.map((line) => <li key={line} class="command"><code>{line}</code><CopyButton words={line} label={line} /></li>)}
    </ul>
  );
}
