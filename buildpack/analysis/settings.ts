import type { Finding } from "../../api/build.ts";
import { type SettingsChange, settingNames, settingsFile, settingsFileName } from "../../api/settings.ts";
import { type Settings, settings } from "../../api/stored-settings.ts";
import { lineOfKey, listed, NoPlan, quoted } from "./diagnostics.ts";
import { jsonTable } from "./manifests.ts";
import type { SourceTree } from "./tree.ts";

/** The settings of a build, and one finding for each that is set. */
export interface AppliedSettings {
  settings: Settings;
  findings: Finding[];
  /** The folder that `rootDirectory` names, "" for the top level. */
  folder: string;
}

/**
 * The project's settings, replaced by those that the archive's slipway.json names (docs/detection.md, Settings); throws
 * `NoPlan` (broken_manifest) for a file that breaks a rule.
 */
export function applySettings(tree: SourceTree, project: Settings): AppliedSettings {
  const file = readFile(tree);
  const findings: Finding[] = [];
  for (const name of settingNames) {
    const isInFile = file !== undefined && file.change[name] !== undefined;
    if ((isInFile ? file.change[name] : project[name]) === null) continue;
    findings.push({
      code: "setting",
      message: `${name} comes from ${isInFile ? file.path : projectSettings}.`,
      file: isInFile ? file.path : null,
      line: isInFile ? lineOfKey(file.text, [name]) : null,
    });
  }
  const applied = settings().parse({ ...project, ...file?.change });
  const { rootDirectory } = applied;
  const place = file?.change.rootDirectory === undefined ? projectSettings : file.path;
  return { settings: applied, findings, folder: rootDirectory === null ? "" : rootFolder(tree, rootDirectory, place) };
}

const projectSettings = "the project's settings";

function readFile(tree: SourceTree): { path: string; text: string; change: SettingsChange } | undefined {
  const at = topFolder(tree) + settingsFileName;
  const file = tree.files.get(at);
  if (file === undefined) return undefined;
  const path = settingsFileName;
  const text = file.kind === "symlink" ? undefined : file.text?.();
  const parsed = settingsFile.safeParse(jsonTable(path, text, '{"startCommand": "node server.js"}'));
  if (parsed.success) {
    const { $schema: _, ...change } = parsed.data;
    return { path, text: text ?? "", change };
  }
  const [first] = parsed.error.issues;
  const rules = parsed.error.issues.map((issue) => [...issue.path, issue.message].join(" ")).join("; ");
  const field = first?.path[0] ?? (first?.code === "unrecognized_keys" ? first.keys[0] : undefined);
  const line = field === undefined ? "" : ` (line ${lineOfKey(text, [String(field)])})`;
  throw new NoPlan("broken_manifest", `${path}${line} breaks a rule: ${rules}. Correct it and deploy again.`);
}

/** The single folder at the top that holds everything, with a slash at its end; "" if there is none (docs/api.md, Archives). */
function topFolder(tree: SourceTree): string {
  const [first = ""] = tree.files.keys();
  const folder = first.slice(0, first.indexOf("/") + 1);
  for (const path of tree.files.keys()) if (!path.startsWith(folder)) return "";
  return folder;
}

/** The folder of the tree that `rootDirectory` names; throws `NoPlan` (nothing_detected) if there is none. */
function rootFolder(tree: SourceTree, rootDirectory: string, place: string): string {
  const named = rootDirectory
    .split(/[/\\]/)
    .filter((name) => name !== "" && name !== ".")
    .join("/");
  const top = topFolder(tree);
  const paths = [...tree.files.keys()];
  // An archive of this one folder has it as its single folder at the top.
  for (const folder of [top + named, named]) {
    const clean = folder.replace(/\/$/, "");
    if (clean === "" || paths.some((path) => path.startsWith(`${clean}/`))) return clean;
  }
  const folders = new Set(
    paths.filter((path) => path.includes("/")).map((path) => path.slice(0, path.lastIndexOf("/"))),
  );
  const seen = folders.size === 0 ? "The archive has no folders." : `Folders seen: ${listed([...folders].sort(), 12)}.`;
  const isFile = tree.files.has(top + named);
  throw new NoPlan(
    "nothing_detected",
    `rootDirectory in ${place} names ${quoted(named)}, which ${isFile ? "is a file, not a folder" : "is not a folder of the archive"}. Correct it and deploy again. ${seen}`,
  );
}
