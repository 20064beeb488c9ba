// The page of `attache graph -o html`: the map of the data that the page contains.
import { mount } from './map.js';

const data = JSON.parse(document.getElementById('data').textContent);
mount(data, { signal: new AbortController().signal });
