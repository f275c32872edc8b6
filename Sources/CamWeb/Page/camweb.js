// The page: a grid of cameras, of which one may be large.

import { Address } from "./address.js";
import { Storage } from "./storage.js";
import { Tile } from "./tile.js";

const grid = document.getElementById("cameras");
const summary = document.getElementById("summary");
// Milliseconds between looks whether cameras have come or gone.
const interval = 5000;
let tiles = [];
// Whether the page may change something, and say causes and figures; and why there are no cameras.
let canChange = false;
let seesDetails = false;
let emptiness = "";
// What the address asks for, until its camera is there.
let wanted = null;
const address = new Address(go);
const storage = new Storage({
  closed: () => enlarge(null),
  play: (name, time) => {
    address.write(name, time);
    go(address.read());
  },
});
grid.after(storage.element);
const storageButton = document.getElementById("storage");

async function refresh() {
  let cameras;
  try {
    const response = await fetch("cameras.json");
    if (response.status === 401) location.assign(`login${location.hash}`);
    if (!response.ok) throw new Error(await response.text());
    document.getElementById("logout").hidden = !response.headers.has("camweb-user");
    canChange = response.headers.has("camweb-changes");
    seesDetails = response.headers.has("camweb-details");
    storage.canChange = canChange;
    emptiness = decodeURIComponent(response.headers.get("camweb-empty") ?? "");
    cameras = await response.json();
  } catch (error) {
    // The cameras say so themselves.
    if (tiles.length === 0) summary.textContent = `no list of cameras: ${error.message}`;
    return;
  }
  show(cameras);
}

// Shows these cameras, in this order; those that are there already go on, and those whose settings changed begin again.
function show(cameras) {
  const keys = cameras.map(keyOf);
  if (keys.length > 0 && keys.join() === tiles.map((tile) => tile.key).join()) return;
  const large = tiles.find((tile) => tile.isLarge)?.name;
  for (const tile of tiles.filter((tile) => !keys.includes(tile.key))) {
    if (tile.isLarge) arrange(null);
    tile.isWatched = false;
    tile.element.remove();
  }
  tiles = cameras.map((camera, index) => tiles.find((tile) => tile.key === keys[index]) ?? makeTile(camera));
  tiles.forEach((tile, index) => {
    if (grid.children[index] !== tile.element) grid.insertBefore(tile.element, grid.children[index] ?? null);
  });
  summary.textContent = describe(tiles.length);
  storageButton.hidden = !seesDetails || !cameras.some(({ recordings }) => recordings);
  watchVisible();
  const again = tiles.find((tile) => tile.name === large && !tile.isLarge);
  if (again) arrange(again);
  if (wanted) go(wanted);
}

// What a tile is made from.
function keyOf({ name, recordings, recorder, small }) {
  return JSON.stringify([name, recordings, recorder, small, canChange, seesDetails]);
}

function describe(count) {
  if (count === 0) return emptiness;
  return count === 1 ? "1 camera" : `${count} cameras`;
}

function makeTile(camera) {
  const { name, recordings, recorder, small } = camera;
  const tile = new Tile(name, { recordings, recorder, small, canChange, seesDetails }, {
    opened: () => enlarge(tile),
    closed: () => enlarge(null),
    filled: () => fillScreen(tile),
    moved: (time) => tile.isLarge && address.write(name, time),
  });
  tile.key = keyOf(camera);
  return tile;
}

// Shows one camera large, or all of them for null, and says so in the address.
function enlarge(large) {
  wanted = null;
  const previous = tiles.find((tile) => tile.isLarge);
  const wasStorage = storage.isOpen;
  arrange(large);
  if (!large && wasStorage) storageButton.focus();
  else (large ?? previous)?.button.focus();
  address.write(large?.name ?? null, null);
}

// Shows the storage page in place of the cameras.
function showStorage() {
  wanted = null;
  arrange(null);
  for (const tile of tiles) tile.isWatched = false;
  grid.hidden = true;
  storage.open();
  document.title = "Storage · camweb";
  address.writeStorage();
}

function arrange(large) {
  storage.close();
  grid.hidden = false;
  for (const tile of tiles) tile.isLarge = tile === large;
  grid.classList.toggle("single", large !== null);
  document.title = large ? `${large.name} · camweb` : "camweb";
  watchVisible();
}

// Goes where an address leads.
function go({ camera, time, storage }) {
  if (storage) return showStorage();
  const tile = tiles.find(({ name }) => name === camera);
  wanted = camera === null || tile ? null : { camera, time };
  if (wanted) return;
  arrange(tile ?? null);
  tile?.show(time);
}

// Only what can be seen is fetched and decoded.
function watchVisible() {
  const large = tiles.find((tile) => tile.isLarge);
  for (const tile of tiles) {
    const isWatched = !document.hidden && !storage.isOpen && (!large || tile === large);
    if (isWatched) tile.isInGrid = !large && tiles.length > 1;
    tile.isWatched = isWatched;
  }
}

document.addEventListener("visibilitychange", watchVisible);

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
  const large = tiles.find((tile) => tile.isLarge);
  if (key === "Escape" && (large || storage.isOpen) && !document.fullscreenElement) return enlarge(null);
  if (target.closest("input, select, textarea")) return;
  if (key === "f") return fillScreen(large ?? tiles.find((tile) => tile.element.contains(document.activeElement)));
  // A button has its own use for the space bar.
  if (key === " " && target.closest("button, summary, a")) return;
  if (large?.press(key, event.shiftKey)) event.preventDefault();
});

function fillScreen(tile) {
  if (document.fullscreenElement) {
    document.exitFullscreen();
  } else if (tile) {
    if (!tile.isLarge) enlarge(tile);
    tile.element.requestFullscreen();
  }
}

storageButton.addEventListener("click", showStorage);
wanted = address.read();
if (wanted.storage) showStorage();
refresh();
setInterval(() => document.hidden || refresh(), interval);
