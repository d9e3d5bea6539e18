import { isUtf8 } from "node:buffer";
import { ArchiveRefused } from "./refused.ts";
import { foldPath } from "./tree.ts";

const hopsMax = 40;

/** The target that a link's contents spell: relative, "/" between the parts, nothing that programs read differently. */
export function readTarget(bytes: Buffer, path: string): string {
  const target = bytes.toString("utf8");
  if (bytes.length === 0 || !isUtf8(bytes) || /[\p{Cc}\p{Cs}]/u.test(target))
    throw new ArchiveRefused("bad_link", path);
  if (target.startsWith("/") || /^[A-Za-z]:/.test(target)) throw new ArchiveRefused("link_escape", path);
  if (target.includes("\\")) throw new ArchiveRefused("bad_link", path);
  return target;
}

/** A folder of the tree, as far as links lie in or below it. */
interface Place {
  spelling: string;
  below: Map<string, Place>;
  link: Link | null;
}

/** A folder reached on the way, with the way back; `place` is null where no link is near. */
interface Step {
  up: Step | null;
  place: Place | null;
  /** False once a name was found in another case only, which some file systems would follow and others not. */
  exact: boolean;
}

interface Link {
  path: string;
  /** Its path in the archive, for the error. */
  name: string;
  target: string;
  /** Where it leads in the end, and over how many links; null until that has been found out. */
  resolved: { end: Step; hops: number } | null;
}

/**
 * Follows every link as the kernel would, through other links, and refuses those that leave the tree on the way. Each must stay
 * inside when read as plain text, too: a tool that copies the tree without links would read it so. `links` are the
 * targets by path below the folder `prefix`, which ends in "/" or is empty.
 */
export function checkLinks(links: ReadonlyMap<string, string>, prefix = ""): void {
  const root: Place = { spelling: "", below: new Map(), link: null };
  const all: Link[] = [];
  for (const [path, target] of links) {
    const link = { path, name: `${prefix}${path}`, target, resolved: null };
    placeOf(root, path).link = link;
    all.push(link);
    checkText(link);
  }
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
