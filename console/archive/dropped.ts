import ignore from "ignore";
import type { Packable } from "./zip.ts";

/** As `slipway deploy` (sdk/folder): these are never sent, and neither is a file of variables. */
const neverSent: ReadonlySet<string> = new Set([
  ".git",
  "node_modules",
  ".venv",
  "__pycache__",
  ".slipway",
  ".DS_Store",
]);
const isNeverSent = (name: string) => neverSent.has(name) || name.startsWith(".env");

/** A zip has 16 bits for the number of its files. */
const filesMax = 65_534;

export interface Source {
  /** The name of the chosen folder or file. */
  name: string;
  /** The zip itself, or the files to pack. */
  content: File | Packable[];
  /** Names that were left out, such as `node_modules`. */
  leftOut: string[];
}

const isZip = (file: File) => /\.zip$/i.test(file.name) || file.type === "application/zip";

function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  return new Promise((resolve, reject) => {
    // The browser returns the entries in batches; an empty batch marks the end.
    const next = () =>
      reader.readEntries((some) => {
        if (some.length === 0) return resolve(all);
        all.push(...some);
        next();
      }, reject);
    next();
  });
}

const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
const fileOf = (entry: FileSystemEntry) =>
  new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));

async function walk(folder: FileSystemDirectoryEntry, prefix: string, found: Packable[], leftOut: Set<string>) {
  for (const entry of await entriesOf(folder)) {
    if (isNeverSent(entry.name)) leftOut.add(entry.name);
    else if (isFolder(entry)) await walk(entry, `${prefix}${entry.name}/`, found, leftOut);
    else found.push({ path: prefix + entry.name, file: await fileOf(entry) });
  }
}

/** Leaves out what the folder's own `.gitignore` names. */
async function withoutIgnored(files: Packable[], leftOut: Set<string>): Promise<Packable[]> {
  const rules = files.find(({ path }) => path === ".gitignore");
  if (!rules) return files;
  const matcher = ignore().add(await rules.file.text());
  return files.filter(({ path }) => {
    const isIgnored = matcher.ignores(path);
    if (isIgnored) leftOut.add(path.split("/")[0] ?? path);
    return !isIgnored;
  });
}

async function sourceOf(name: string, files: Packable[], leftOut: Set<string>): Promise<Source> {
  const content = await withoutIgnored(files, leftOut);
  if (content.length === 0) throw new Error(`There is no file to send in ${name}.`);
  if (content.length > filesMax) throw new Error(`${name} has more than ${filesMax} files. Send a zip instead.`);
  return { name, content, leftOut: [...leftOut].sort() };
}

/** What was chosen in a file dialog: one zip, or the files of a folder. */
export async function chosen(list: readonly File[]): Promise<Source> {
  const [first] = list;
  if (!first) throw new Error("No file was chosen.");
  if (list.length === 1 && !first.webkitRelativePath) {
    if (isZip(first)) return { name: first.name, content: first, leftOut: [] };
    throw new Error(`${first.name} is not a zip. Choose a zip, or a folder.`);
  }
  const leftOut = new Set<string>();
  const files = list.flatMap((file) => {
    const [, ...parts] = file.webkitRelativePath.split("/");
    const bad = parts.find(isNeverSent);
    if (bad !== undefined) leftOut.add(bad);
    return bad === undefined ? [{ path: parts.join("/"), file }] : [];
  });
  return sourceOf(first.webkitRelativePath.split("/")[0] ?? "the folder", files, leftOut);
}

/** What was dropped: one zip, or one folder. Must be called in the handler of the event, before it ends. */
export async function dropped(transfer: DataTransfer): Promise<Source> {
  const files = [...transfer.files];
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
  const [entry] = entries;
  if (entries.length > 1 || files.length > 1) throw new Error("Drop one folder or one zip.");
  if (!entry || !isFolder(entry)) return chosen(files);
  const found: Packable[] = [];
  const leftOut = new Set<string>();
  await walk(entry, "", found, leftOut);
  return sourceOf(entry.name, found, leftOut);
}
