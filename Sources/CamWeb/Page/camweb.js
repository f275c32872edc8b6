// The page: a grid of cameras, of which one may be large.

import { Tile } from "/tile.js";

const grid = document.getElementById("cameras");
const summary = document.getElementById("summary");
// Milliseconds between looks whether cameras have come or gone.
const interval = 5000;
let tiles = [];
// Whether the page may change something.
let canChange = false;

async function refresh() {
  let cameras;
  try {
    const response = await fetch("/cameras.json");
    if (response.status === 401) location.assign("/login");
    if (!response.ok) throw new Error(await response.text());
    document.getElementById("logout").hidden = !response.headers.has("camweb-user");
    canChange = response.headers.has("camweb-changes");
    cameras = await response.json();
  } catch (error) {
    // The cameras say so themselves.
    if (tiles.length === 0) summary.textContent = `no list of cameras: ${error.message}`;
    return;
  }
  show(cameras);
}

// Shows these cameras, in this order; those that are there already go on.
function show(cameras) {
  const names = cameras.map(({ name }) => name);
  if (names.length > 0 && names.join("/") === tiles.map((tile) => tile.name).join("/")) return;
  for (const tile of tiles.filter((tile) => !names.includes(tile.name))) {
    if (tile.isLarge) enlarge(null);
    tile.isWatched = false;
    tile.element.remove();
  }
  tiles = cameras.map((camera) => tiles.find((tile) => tile.name === camera.name) ?? makeTile(camera));
  tiles.forEach((tile, index) => {
    if (grid.children[index] !== tile.element) grid.insertBefore(tile.element, grid.children[index] ?? null);
  });
  summary.textContent = describe(tiles.length);
  watchVisible();
}

function describe(count) {
  if (count === 0) return "none yet: add listen = unix:/run/camrec/NAME/live,mode=660 to /etc/camrec/NAME.conf";
  return count === 1 ? "1 camera" : `${count} cameras`;
}

function makeTile({ name, recordings, recorder }) {
  const tile = new Tile(name, { recordings, recorder, canChange }, () => enlarge(tile.isLarge ? null : tile));
  return tile;
}

// Shows one camera large; all of them for null.
function enlarge(large) {
  const previous = tiles.find((tile) => tile.isLarge);
  for (const tile of tiles) tile.isLarge = tile === large;
  grid.classList.toggle("single", large !== null);
  watchVisible();
  (large ?? previous)?.button.focus();
}

// Only what can be seen is fetched and decoded.
function watchVisible() {
  const large = tiles.find((tile) => tile.isLarge);
  for (const tile of tiles) tile.isWatched = !document.hidden && (!large || tile === large);
}

document.addEventListener("visibilitychange", watchVisible);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const large = tiles.find((tile) => tile.isLarge);
  if (event.key === "Escape" && large && !document.fullscreenElement) enlarge(null);
  if (event.key === "f") fillScreen(large ?? tiles.find((tile) => tile.element.contains(document.activeElement)));
});

function fillScreen(tile) {
  if (document.fullscreenElement) {
    document.exitFullscreen();
  } else if (tile) {
    enlarge(tile);
    tile.element.requestFullscreen();
  }
}

refresh();
setInterval(() => document.hidden || refresh(), interval);
