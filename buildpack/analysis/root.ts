import { type App, appAt } from "./app.ts";
import { listed, NoPlan } from "./diagnostics.ts";
import { makesApplication } from "./python/applications.ts";
import type { AppliedSettings } from "./settings.ts";
import { blankPythonComments } from "./source.ts";
import { depthOf, type SourceTree } from "./tree.ts";
import { unsupportedLanguage, unsupportedSite } from "./unsupported-languages.ts";

const NODE_ENTRY = /^(server|app|main|index)\.(js|mjs|cjs|ts|mts|cts)$/;
const PYTHON_ENTRY = /^(main|app|server)\.py$/;
const PYTHON_MANIFEST =
  /^(requirements\.txt|pyproject\.toml|Pipfile|Pipfile\.lock|setup\.py|poetry\.lock|uv\.lock|pdm\.lock|manage\.py)$/;
const UNSEARCHED = /(^|\/)(node_modules|bower_components|site-packages|\.?venv|__pycache__|\.[^/]+)$/;

/** Folders whose app.js or main.js is a browser script, not a server. */
const PAGE_SCRIPTS = /(^|\/)(js|javascripts?|assets|static|public|www|css|images?|img)(\/|$)/i;

export const isPythonManifest = (name: string): boolean => PYTHON_MANIFEST.test(name);
const isPythonEntry = (name: string): boolean => PYTHON_ENTRY.test(name);
export const isNodeEntry = (name: string): boolean => NODE_ENTRY.test(name);

/** The app's folder: the one that the settings name, else the one that holds a marker (docs/detection.md, Settings). */
export function findRoot(tree: SourceTree, { folder: top, settings }: AppliedSettings): App {
  try {
    return appAt(tree, joined(top, detectRoot(below(tree, top), top).root));
  } catch (error) {
    const isUnmarked = error instanceof NoPlan && error.code === "nothing_detected";
    // What a set command starts needs no marker.
    if (!isUnmarked || settings.startCommand === null) throw error;
    return appAt(tree, top);
  }
}

const joined = (top: string, folder: string): string => [top, folder].filter((name) => name !== "").join("/");

/** The part of a tree below a folder. */
function below(tree: SourceTree, folder: string): SourceTree {
  if (folder === "") return tree;
  const prefix = `${folder}/`;
  const entries = [...tree.files].filter(([path]) => path.startsWith(prefix));
  return { files: new Map(entries.map(([path, file]) => [path.slice(prefix.length), file])) };
}

/** The app's folder (docs/detection.md, Root): the top level if it holds a marker, else the only folder that holds one. Folders inside it and supporting folders (tests, docs) do not count as further apps. */
function detectRoot(tree: SourceTree, top: string): App {
  const levels = pathsByDepth(tree);
  for (const isMarker of [isStrongMarker, isWeakMarker]) {
    for (const level of levels) {
      const folders = new Set<string>();
      for (const path of level) {
        const slash = path.lastIndexOf("/");
        const folder = path.slice(0, Math.max(0, slash));
        const name = path.slice(slash + 1);
        const root = name === "__init__.py" ? aboveFolder(folder) : folder;
        if (!folders.has(root) && isMarker(tree, folder, name) && isSearched(folder)) folders.add(root);
      }
      for (const folder of folders)
        for (const above of ["", ...foldersAbove(folder)]) if (above !== folder) folders.delete(above);
      const [first] = folders;
      if (first === undefined) continue;
      const others = folders.size > 1 ? [] : manifestFoldersBeside(tree, first);
      if (folders.size + others.length > 1) throw severalApps([...folders, ...others].sort(), top);
      return appAt(tree, first);
    }
  }
  throw siteIn(tree) ?? nothingDetected(tree);
}

/** Describes a site in the tree that is built by an unsupported generator. */
function siteIn(tree: SourceTree): NoPlan | undefined {
  const folders = new Set(
    [...tree.files.keys()].filter((path) => SITE_FILE.test(path)).map((path) => path.replace(SITE_FILE, "")),
  );
  for (const folder of [...folders].slice(0, siteFoldersMax)) {
    const app = appAt(tree, folder.replace(/\/$/, ""));
    const error = siteError(app);
    if (error !== undefined) return error;
  }
  return undefined;
}

const SITE_FILE =
  /(?:(?<=^|\/)config\/_default\/)?(?:(?<=^|\/)_config\.ya?ml|(?<=^|\/)(?:hugo|config)\.(?:toml|ya?ml|json))$/;
/** Limits the folders checked, because each check reads every path. */
const siteFoldersMax = 20;

/** The message for a folder that is a site of an unsupported generator; undefined for other folders. */
export function siteError(app: App): NoPlan | undefined {
  const site = unsupportedSite(app.paths, app.text);
  if (site === undefined) return undefined;
  const name = site.generator.toLowerCase();
  return new NoPlan(
    "unsupported_language",
    `${app.shown(site.file)} declares a ${site.generator} site; Slipway runs Node.js and Python. Build it (${name} ${name === "hugo" ? "--minify" : "build"}), and upload the folder that it writes, ${site.output}, with a package.json next to it: {"scripts": {"start": "serve ${site.output}"}, "dependencies": {"serve": "14"}}.`,
  );
}

/** Folders that support an app (tests, docs): a manifest in them does not make another app. */
const ACCOMPANYING = /(^|\/)(docs?|examples?|samples?|demos?|tests?|e2e|fixtures?|scripts?|tools?|templates?)(\/|$)/i;

/** Deeper folders with a manifest outside the app's folder: other apps of the same archive. */
function manifestFoldersBeside(tree: SourceTree, root: string): string[] {
  if (root === "") return [];
  const found = new Set<string>();
  for (const path of tree.files.keys()) {
    const slash = path.lastIndexOf("/");
    const folder = path.slice(0, Math.max(0, slash));
    const name = path.slice(slash + 1);
    if (name !== "package.json" && name !== "Procfile" && !isPythonManifest(name)) continue;
    if (!`${folder}/`.startsWith(`${root}/`) && isSearched(folder) && !ACCOMPANYING.test(folder)) found.add(folder);
  }
  return [...found].filter((folder) => !foldersAbove(folder).some((above) => found.has(above)));
}

/** The folder that a package is imported from. */
const aboveFolder = (folder: string): string => folder.slice(0, Math.max(0, folder.lastIndexOf("/")));

const foldersAbove = (folder: string): string[] =>
  [...folder.matchAll(/\//g)].map((slash) => folder.slice(0, slash.index));

/** The paths grouped by depth. */
function pathsByDepth(tree: SourceTree): string[][] {
  const levels: string[][] = [];
  for (const path of tree.files.keys()) {
    const depth = depthOf(path);
    while (levels.length <= depth) levels.push([]);
    levels[depth]?.push(path);
  }
  return levels;
}

const isSearched = (folder: string): boolean => !folder.split("/").some((name) => UNSEARCHED.test(name));

function isStrongMarker(tree: SourceTree, folder: string, name: string): boolean {
  if (name === "package.json" || name === "Procfile" || unsupportedLanguage(name) !== undefined) return true;
  if (isPythonManifest(name) || isPythonEntry(name)) return true;
  if (isNodeEntry(name)) return !PAGE_SCRIPTS.test(folder);
  if (!name.endsWith(".py")) return false;
  const text = tree.files.get(folder === "" ? name : `${folder}/${name}`)?.text?.();
  return text !== undefined && makesApplication(blankPythonComments(text));
}

const isWeakMarker = (_tree: SourceTree, _folder: string, name: string): boolean => name.endsWith(".py");

function severalApps(folders: string[], top: string): NoPlan {
  const more = folders.length > 12 ? ` and ${folders.length - 12} more folders` : "";
  const example = JSON.stringify({ rootDirectory: joined(top, folders[0] ?? "") });
  return new NoPlan(
    "several_apps",
    `Found apps in ${folders.slice(0, 12).join(", ")}${more}; upload one of them. Or name it in a slipway.json at the top of the archive: ${example}.`,
  );
}

function nothingDetected(tree: SourceTree): NoPlan {
  const files = [...tree.files.keys()].sort((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1));
  const inner = files.length === 1 ? files.find((path) => /\.(zip|tar|tgz|tar\.gz|7z|rar)$/i.test(path)) : undefined;
  if (inner !== undefined) {
    return new NoPlan(
      "nothing_detected",
      `No app was found: the upload contains only another archive, ${inner}, which is not unpacked. Upload a zip of the app's own files.`,
    );
  }
  const page = files.find((path) => /(^|\/)index\.html$/.test(path));
  const plain =
    page === undefined
      ? ""
      : ` To serve plain files such as ${page}, put a package.json next to them: {"scripts": {"start": "serve ."}, "dependencies": {"serve": "14"}}.`;
  const seen = files.length === 0 ? "The archive holds no files." : `Files seen: ${listed(files, 12)}.`;
  return new NoPlan(
    "nothing_detected",
    `No app was found. Slipway runs Node.js (package.json, or server.js, app.js, main.js, index.js) and Python (requirements.txt, pyproject.toml, Pipfile, setup.py, manage.py, or main.py, app.py, server.py).${plain} ${seen}`,
  );
}
