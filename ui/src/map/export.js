// Saves the map as it is shown: an SVG file with its styles and legend, or a PNG of it.
import { text } from './text.js';

export function savingOf(map, tell, signal) {
  const MARGIN = 24;
  const LARGEST = 16000;

  /** All styles of the page. */
  function styles() {
    return [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).map((rule) => rule.cssText).join('\n');
  }

  /** The map as a standalone picture. */
  function picture() {
    const { plan, legend } = map();
    const width = Math.max(plan.width, 600);
    const below = legend.picture(width);
    const height = plan.height + MARGIN + below.height;
    const whole = { width: width + 2 * MARGIN, height: height + 2 * MARGIN };
    const content = document.getElementById('view').cloneNode(true);
    content.removeAttribute('transform');
    content.removeAttribute('id');
    for (const element of content.querySelectorAll('[tabindex]')) element.removeAttribute('tabindex');
    for (const element of content.querySelectorAll('.selected, .on, .hit')) element.classList.remove('selected', 'on', 'hit');
    content.setAttribute('transform', `translate(${MARGIN} ${MARGIN})`);
    const svg = text.shape('svg', {
      class: 'attache', viewBox: `0 0 ${whole.width} ${whole.height}`, width: whole.width, height: whole.height, role: 'img',
    }, text.shape('title', null, document.title), text.shape('style', null), text.shape('rect', { class: 'ground', width: whole.width, height: whole.height }), content,
    text.shape('g', { transform: `translate(${MARGIN} ${plan.height + 2 * MARGIN})` }, ...below.parts));
    svg.querySelector('style').textContent = styles();
    return { ...whole, svg: new XMLSerializer().serializeToString(svg) };
  }

  function save(blob, ending) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = `attache.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    tell(`Saved attache.${ending}`);
  }

  const blobOf = (svg) => new Blob([svg], { type: 'image/svg+xml' });

  async function png() {
    const { svg, width, height } = picture();
    const image = new Image();
    const address = URL.createObjectURL(blobOf(svg));
    image.src = address;
    await image.decode();
    const scale = Math.min(2, LARGEST / width, LARGEST / height);
    const canvas = document.createElement('canvas');
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    const brush = canvas.getContext('2d');
    brush.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    return new Promise((done, fail) => {
      canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error('the picture is too large'))), 'image/png');
    });
  }

  document.getElementById('save-svg').addEventListener('click', () => save(blobOf(picture().svg), 'svg'), { signal });
  document.getElementById('save-png').addEventListener('click', () => {
    png().then((blob) => save(blob, 'png'), (problem) => tell(`No PNG: ${problem.message}. Save it as SVG.`));
  }, { signal });
}
