import { isUtf8 } from "node:buffer";
import { ArchiveRefused } from "./refused.ts";
import { foldPath } from "./tree.ts";

const hopsMax = 40;

/** The target of a link from its contents: relative, with "/" between the parts. Throws if programs could read it differently. */
export function readTarget(bytes: Buffer, path: string): string {
  const target = bytes.toString("utf8");
  if (bytes.length === 0 || !isUtf8(bytes) || /[\p{Cc}\p{Cs}]/u.test(target))
    throw new ArchiveRefused("bad_link", path);
  if (target.startsWith("/") || /^[A-Za-z]:/.test(target)) throw new ArchiveRefused("link_escape", path);
  if (target.includes("\\")) throw new ArchiveRefused("bad_link", path);
  return target;
}

/** A folder of the tree; only folders with links in or below them are kept. */
interface Place {
  spelling: string;
  below: Map<string, Place>;
  link: Link | null;
}

/** A folder on the way to a target, with the folder above it; `place` is null if no link is in or below it. */
interface Step {
  up: Step | null;
  place: Place | null;
  /** False if a name matched only in another case, which some file systems follow and others do not. */
  exact: boolean;
}

interface Link {
  path: string;
  /** Its path in the archive, for the error. */
  name: string;
  target: string;
  /** The final target and the number of links on the way; null until it is resolved. */
  resolved: { end: Step; hops: number } | null;
}

/**
 * Follows every link as the kernel does, through other links, and refuses those that leave the tree. The text of each target
 * must also stay inside by itself, because a tool that copies the tree without links reads it that way. `links` are the
 * targets by path below the folder `prefix`, which ends in "/" or is empty.
 */
export function checkLinks(links: ReadonlyMap<string, string>, prefix = ""): void {
  const root: Place = { spelling: "", below: new Map(), link: null };
  const all = [...links].map(([path, target]): Link => {
    const link = { path, name: `${prefix}${path}`, target, resolved: null };
    placeOf(root, path).link = link;
    checkText(link);
    return link;
  });
  const top: Step = { up: null, place: root, exact: true };
  for (const link of all) resolve(top, link, 1);
}

function placeOf(root: Place, path: string): Place {
  let place = root;
  for (const spelling of path.split("/")) {
    const key = foldPath(spelling);
    let next = place.below.get(key);
    if (next === undefined) {
      next = { spelling, below: new Map(), link: null };
      place.below.set(key, next);
    }
    place = next;
  }
  return place;
}

function checkText({ path, name, target }: Link): void {
  let depth = path.split("/").length - 1;
  for (const part of target.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) throw new ArchiveRefused("link_escape", name);
  }
}

function stepInto(step: Step, part: string): Step {
  const place = step.place?.below.get(foldPath(part)) ?? null;
  return { up: step, place, exact: step.exact && (place === null || place.spelling === part) };
}

function resolve(root: Step, link: Link, hops: number): { end: Step; hops: number } {
  if (link.resolved !== null) return link.resolved;
  if (hops > hopsMax) throw new ArchiveRefused("link_loop", link.name);
  let step = root;
  for (const part of link.path.split("/").slice(0, -1)) step = stepInto(step, part);
  let most = 1;
  for (const part of link.target.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (step.up === null) throw new ArchiveRefused("link_escape", link.name);
      step = step.up;
      continue;
    }
    step = stepInto(step, part);
    const passed = step.place?.link ?? null;
    if (passed === null) continue;
    if (!step.exact)
      throw new ArchiveRefused("bad_link", link.name, "it leads through another link whose name differs in case");
    const through = resolve(root, passed, hops + 1);
    most = Math.max(most, through.hops + 1);
    step = through.end;
  }
  if (most > hopsMax) throw new ArchiveRefused("link_loop", link.name);
  link.resolved = { end: step, hops: most };
  return link.resolved;
}
