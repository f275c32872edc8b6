// The page: a grid of cameras, of which one may be large.

import { Tile } from "/tile.js";

const grid = document.getElementById("cameras");
const summary = document.getElementById("summary");
let tiles = [];

async function start() {
  let cameras;
  try {
    const response = await fetch("/cameras.json");
    if (!response.ok) throw new Error(await response.text());
    cameras = await response.json();
  } catch (error) {
    summary.textContent = `no list of cameras: ${error.message}`;
    return;
  }
  tiles = cameras.map(({ name }) => {
    const tile = new Tile(name, () => enlarge(tile.isLarge ? null : tile));
    return tile;
  });
  grid.append(...tiles.map((tile) => tile.element));
  summary.textContent = tiles.length === 1 ? "1 camera" : `${tiles.length} cameras`;
  watchVisible();
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

start();
