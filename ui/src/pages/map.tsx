// The map: the same code as the page of `attache graph -o html`, drawn anew with each state.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { GraphData, GraphNode } from '../types';
import { get } from '../api';
import { useData } from '../data';
import { pageOf } from '../names';
import { mount } from '../map/map.js';
import { Empty, Failed, Loading } from '../parts/notice';

type Snapshot = ReturnType<ReturnType<typeof mount>['snapshot']>;

export function MapPage() {
  const { data, failure } = useData<GraphData>('graph');
  const last = useRef<Snapshot | null>(null);
  // Drawn by the map, never by Preact, so it is always the same.
  const frame = useMemo(() => <Frame />, []);
  useEffect(() => {
    if (!data || data.graph.nodes.length === 0) return undefined;
    const control = new AbortController();
    const map = mount(data, { signal: control.signal, prefix: '/map', before: last.current, details, pageOf: (node: GraphNode) => pageOf(node.object) });
    return () => {
      last.current = map.snapshot();
      control.abort();
    };
  }, [data]);
  return (
    <>
      {failure && <div class="padded"><Failed failure={failure} /></div>}
      {!data && !failure && <div class="padded"><Loading what="the map" /></div>}
      {data?.graph.nodes.length === 0 && <div class="padded"><Empty title="There is nothing to draw here.">Gateways, routes, backends and their policies appear here when they are created.</Empty></div>}
      <div class="map-page" hidden={!data || data.graph.nodes.length === 0}>{frame}</div>
    </>
  );
}

/** What the graph does not have of a node. */
async function details(node: GraphNode): Promise<unknown> {
  try {
    return await get(`details?object=${encodeURIComponent(node.id)}`);
  } catch {
    // The panel shows what the graph has.
    return null;
  }
}

function Frame() {
  return (
    <>
      <div class="map-bar">
        <h1 class="hidden" tabIndex={-1}>Map</h1>
        <div class="search" role="search">
          <label class="hidden" for="search">Search objects and policies</label>
          <input id="search" type="search" placeholder="Search the map  ( / )" autocomplete="off" spellcheck={false} />
          <output id="hits" for="search" />
        </div>
        <span class="grow" />
        <div class="group" role="group" aria-label="Namespaces">
          <button id="unfold" type="button" title="Expand all namespaces (e)">Expand all</button>
          <button id="fold" type="button" title="Collapse all namespaces (c)">Collapse all</button>
        </div>
        <div class="group" role="group" aria-label="Zoom">
          <button id="out" type="button" aria-label="Zoom out" title="Zoom out (-)">−</button>
          <button id="level" type="button" title="Actual size (1)">100%</button>
          <button id="in" type="button" aria-label="Zoom in" title="Zoom in (+)">+</button>
          <button id="fit" type="button" title="Show all (0)">Fit</button>
        </div>
        <div class="group" role="group" aria-label="Export the map">
          <button id="save-svg" type="button" title="Save the map as an SVG file">SVG</button>
          <button id="save-png" type="button" title="Save the map as a PNG file">PNG</button>
        </div>
      </div>
      <section id="bar" aria-label="Filters" />
      <div class="map-body">
        <svg id="canvas" role="group" aria-label="Map"><g id="view" /></svg>
        <div id="divider" role="separator" aria-orientation="vertical" aria-label="Width of the panel" aria-valuemin={260} aria-valuenow={470} tabIndex={0} hidden />
        <aside id="panel" aria-labelledby="panel-name" tabIndex={-1} hidden>
          <button id="close" type="button" aria-label="Close" title="Close (Esc)">×</button>
          <div id="about" />
        </aside>
      </div>
      <footer id="legend" aria-label="Legend" />
      <p id="said" class="hidden" role="status" />
    </>
  );
}
