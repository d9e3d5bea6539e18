import { type App, appAt } from "./app.ts";
import { foreignLanguage } from "./foreign.ts";
import { listed, NoPlan } from "./notes.ts";
import type { SourceTree } from "./tree.ts";

const NODE_ENTRY = /^(server|app|main|index)\.(js|mjs|cjs|ts|mts|cts)$/;
const PYTHON_ENTRY = /^(main|app|server)\.py$/;
const PYTHON_MANIFEST =
  /^(requirements\.txt|pyproject\.toml|Pipfile|Pipfile\.lock|setup\.py|poetry\.lock|uv\.lock|pdm\.lock|manage\.py)$/;
const UNSEARCHED = /(^|\/)(node_modules|bower_components|site-packages|\.?venv|__pycache__|\.[^/]+)$/;

/** Folders whose app.js or main.js is a script of a page, not a server. */
const PAGE_SCRIPTS = /(^|\/)(js|javascripts?|assets|static|public|www|css|images?|img)(\/|$)/i;

/** A Python source that makes a web app at module level. */
const PYTHON_APP = /^\w+\s*(:[^=\n]+)?=\s*(\w+\s*=\s*)?([\w.]+\.)?(FastAPI|Flask)\s*\(/m;

export const isPythonManifest = (name: string): boolean => PYTHON_MANIFEST.test(name);
const isPythonEntry = (name: string): boolean => PYTHON_ENTRY.test(name);
export const isNodeEntry = (name: string): boolean => NODE_ENTRY.test(name);

/** The app's folder (DETECTION, Root 2): the top level if it holds a marker, else the only folder, nearest the top, that holds one. */
export function findRoot(tree: SourceTree): App {
  const folders = foldersByDepth(tree);
  for (const isMarker of [isStrongMarker, isWeakMarker]) {
    for (const level of folders) {
      const found = level.filter((folder) => folder.names.some((name) => isMarker(tree, folder.path, name)));
      if (found.length > 1) throw severalApps(found.map((folder) => folder.path));
      if (found[0] !== undefined) return appAt(tree, found[0].path);
    }
  }
  throw nothingDetected(tree);
}

interface Folder {
  path: string;
  names: string[];
}

function foldersByDepth(tree: SourceTree): Folder[][] {
  const folders = new Map<string, Folder>();
  for (const path of tree.files.keys()) {
    const slash = path.lastIndexOf("/");
    const folder = slash === -1 ? "" : path.slice(0, slash);
    const known = folders.get(folder) ?? { path: folder, names: [] };
    known.names.push(path.slice(slash + 1));
    folders.set(folder, known);
  }
  const levels = new Map<number, Folder[]>();
  for (const folder of [...folders.values()].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    if (folder.path.split("/").some((name) => UNSEARCHED.test(name))) continue;
    const depth = folder.path === "" ? 0 : folder.path.split("/").length;
    const level = levels.get(depth);
    if (level === undefined) levels.set(depth, [folder]);
    else level.push(folder);
  }
  return [...levels.entries()].sort(([a], [b]) => a - b).map(([, level]) => level);
}

function isStrongMarker(tree: SourceTree, folder: string, name: string): boolean {
  if (name === "package.json" || name === "Procfile" || foreignLanguage(name) !== undefined) return true;
  if (isPythonManifest(name) || isPythonEntry(name)) return true;
  if (isNodeEntry(name)) return !PAGE_SCRIPTS.test(folder);
  if (!name.endsWith(".py")) return false;
  const text = tree.files.get(folder === "" ? name : `${folder}/${name}`)?.text?.();
  return text !== undefined && PYTHON_APP.test(text);
}

const isWeakMarker = (_tree: SourceTree, _folder: string, name: string): boolean => name.endsWith(".py");

function severalApps(folders: string[]): NoPlan {
  const more = folders.length > 12 ? ` and ${folders.length - 12} more folders` : "";
  return new NoPlan("several_apps", `Found apps in ${folders.slice(0, 12).join(", ")}${more}; upload one of them.`);
}

function nothingDetected(tree: SourceTree): NoPlan {
  const files = [...tree.files.keys()].sort((a, b) => a.split("/").length - b.split("/").length || (a < b ? -1 : 1));
  const inner = files.length === 1 ? files.find((path) => /\.(zip|tar|tgz|tar\.gz|7z|rar)$/i.test(path)) : undefined;
  if (inner !== undefined) {
    return new NoPlan(
      "nothing_detected",
      `No app was found: all that was uploaded is another archive, ${inner}, which is not opened. Upload a zip of the app's own files.`,
    );
  }
  const page = files.find((path) => /(^|\/)index\.html$/.test(path));
  const plain =
    page === undefined
      ? ""
      : ` To serve plain files such as ${page}, put a package.json beside them: {"scripts": {"start": "serve ."}, "dependencies": {"serve": "14"}}.`;
  const seen = files.length === 0 ? "The archive holds no files." : `Files seen: ${listed(files, 12)}.`;
  return new NoPlan(
    "nothing_detected",
    `No app was found. Slipway runs Node.js (package.json, or server.js, app.js, main.js, index.js) and Python (requirements.txt, pyproject.toml, Pipfile, setup.py, manage.py, or main.py, app.py, server.py).${plain} ${seen}`,
  );
}
