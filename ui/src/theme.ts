// Light and dark: as the system wants, or as the user does. The styles have one set of colours for dark, in rules for
// dark systems; which of these rules hold is changed here.

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'attache-theme';
const DARK = '(prefers-color-scheme: dark)';

export function savedTheme(): Theme {
  try {
    const saved = localStorage.getItem(KEY);
    return saved === 'light' || saved === 'dark' ? saved : 'system';
  } catch {
    return 'system';
  }
}

export function setTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Not kept, then.
  }
  const media = { system: DARK, light: 'not all', dark: 'screen' }[theme];
  for (const rule of darkRules()) rule.media.mediaText = media;
  document.documentElement.dataset.theme = theme;
}

let found: CSSMediaRule[] | null = null;
function darkRules(): CSSMediaRule[] {
  found ??= [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .filter((rule): rule is CSSMediaRule => rule instanceof CSSMediaRule && rule.media.mediaText.includes('prefers-color-scheme'));
  return found;
}
