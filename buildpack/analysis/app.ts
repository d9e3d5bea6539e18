import { isVendored, normalizeText, type SourceTree } from "./tree.ts";

/** One folder of an archive seen as an app: every path is relative to `root`. */
export interface App {
  /** The folder in the archive, "" for the top level. */
  root: string;
  /** Every file below the root, sorted. */
  paths: readonly string[];
  has(path: string): boolean;
  hasFolder(path: string): boolean;
  /** The text without BOM and with `\n`; undefined when the file is missing, binary, a link or too large. */
  text(path: string): string | undefined;
  /** False if the text is already known to contain no address of the developer's own machine. */
  mayNameLocalUrl(path: string): boolean;
  size(path: string): number;
  /** The path that a suggestion shows: relative to the archive, without a folder that wraps the whole archive. */
  shown(path: string): string;
}

/** The size of the text cache, in characters; an evicted text is decoded again. */
const rememberedMax = 4 * 1024 * 1024;

/** The app at `root` of a tree from which junk files were removed. */
export function appAt(tree: SourceTree, root: string): App {
  const prefix = root === "" ? "" : `${root}/`;
  const wrapper = wrapperOf(tree);
  const paths = [...tree.files.keys()]
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length));
  paths.sort();
  const texts = new Map<string, string>();
  let remembered = 0;
  const read = (path: string): string | undefined => {
    const file = tree.files.get(prefix + path);
    if (file === undefined || file.kind === "symlink") return undefined;
    const text = file.text?.();
    return text === undefined || text.includes("\0") ? undefined : normalizeText(text);
  };
  return {
    root,
    paths,
    has: (path) => tree.files.has(prefix + path),
    hasFolder: (path) => paths.some((other) => other.startsWith(`${path}/`)),
    text: (path) => {
      const known = texts.get(path);
      if (known !== undefined) return known;
      const text = read(path);
      if (text !== undefined) {
        remembered += text.length;
        if (remembered > rememberedMax) {
          texts.clear();
          remembered = text.length;
        }
        texts.set(path, text);
      }
      return text;
    },
    mayNameLocalUrl: (path) => tree.files.get(prefix + path)?.mayNameLocalUrl ?? true,
    size: (path) => tree.files.get(prefix + path)?.size ?? 0,
    shown: (path) => (prefix + path).slice(wrapper.length),
  };
}

/** The files that lie directly in the app's root. */
export const rootFiles = (app: App): string[] => app.paths.filter((path) => !path.includes("/"));

/** The handwritten files with one of these extensions. */
export const writtenFiles = (app: App, ending: RegExp): string[] =>
  app.paths.filter((path) => ending.test(path) && !isVendored(path));

/** The folder or folders, with a slash at the end, that hold everything in the tree; "" when there is none. */
export function wrapperOf(tree: SourceTree): string {
  const [first] = tree.files.keys();
  if (first === undefined) return "";
  let wrapper = first.slice(0, first.lastIndexOf("/") + 1);
  for (const path of tree.files.keys()) {
    while (!path.startsWith(wrapper)) wrapper = wrapper.slice(0, wrapper.lastIndexOf("/", wrapper.length - 2) + 1);
    if (wrapper === "") return "";
  }
  return wrapper;
}
